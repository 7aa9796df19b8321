//! What an object says of itself, checked.

use crate::plugins::flaw::{Flaw, text};
use crate::plugins::own::{self, NameError};
use crate::plugins::parameters::{Declared, declared};
use packetscale_controller::abi::{self, Table};
use packetscale_models::congestion::{LossResponse, Needs};
use packetscale_models::settings::Parameters;
use packetscale_models::units::Ecn;
use std::alloc::Layout;

/// Most state of one flow: far above any controller, far below what a mistaken number says.
const MOST_STATE_BYTES: u32 = 1 << 24;
/// A page: no type of C is aligned to more.
const MOST_ALIGN: u32 = 4096;
/// Most settings: a mistaken number is larger.
const MOST_SETTINGS: u32 = 256;
const ALL_NEEDS: u32 = abi::NEEDS_ARRIVALS
    | abi::NEEDS_RATE_SAMPLES
    | abi::NEEDS_AVAILABLE
    | abi::NEEDS_OFFERS
    | abi::SENDS_ECT0
    | abi::SENDS_ECT1
    | abi::OWN_WINDOW;

/// A loaded controller of a user.
#[derive(Debug)]
pub struct Object {
    /// What it calls itself: no name of the registry.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// What a scenario can set.
    pub parameters: Parameters,
    /// The number of its file, for the guard.
    pub(crate) file: u16,
    pub(crate) declared: Vec<&'static dyn Declared>,
    pub(crate) calls: Calls,
    pub(crate) layout: Layout,
    pub(crate) needs: Needs,
    pub(crate) loss_response: LossResponse,
}

/// Its functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    pub start: unsafe extern "C" fn(*mut std::ffi::c_void, *const abi::Setup, *mut abi::Decision) -> i32,
    pub on_ack: abi::On<abi::Ack>,
    pub on_loss: abi::On<abi::Loss>,
    pub on_timeout: abi::On<abi::Timeout>,
    pub on_sent: Option<abi::On<abi::Sent>>,
    pub on_mark: Option<abi::On<abi::Mark>>,
    pub on_undo: Option<abi::On<abi::Undo>>,
    pub on_offer: Option<abi::On<abi::RateFeedback>>,
    pub on_available: Option<abi::On<abi::RateFeedback>>,
}

impl Object {
    /// The memory of one flow's state.
    pub fn state_bytes(&self) -> u64 {
        self.layout.size() as u64
    }

    /// Checks a table, in the order in which its parts can be trusted.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of(table: &'static Table) -> Result<Object, Flaw> {
        let (abi, bytes) = (table.abi, table.struct_bytes);
        if abi != abi::ABI {
            let expected = format!("{}, as in this version's packetscale/controller.h: compile it again", abi::ABI);
            return Err(Flaw::new(format!("interface number {abi}"), expected));
        }
        if bytes as usize != size_of::<Table>() {
            let expected = format!("{}: struct_bytes = sizeof(struct packetscale_controller)", size_of::<Table>());
            return Err(Flaw::new(format!("a table of {bytes} bytes"), expected));
        }
        let name = name(table)?;
        let summary = text(table.summary, "the summary")?;
        let layout = layout(table)?;
        let (needs, loss_response) = needs(table.needs)?;
        let calls = calls(table)?;
        let declared = settings(table)?;
        let parameters = declared.iter().map(|one| one.described()).collect::<Vec<_>>().leak();
        Ok(Object { name, summary, parameters, file: 0, declared, calls, layout, needs, loss_response })
    }
}

fn name(table: &Table) -> Result<&'static str, Flaw> {
    let name = text(table.name, "the name")?;
    own::check(name).map_err(|NameError { found, expected }| Flaw::new(format!("the name \"{found}\""), expected))?;
    Ok(name)
}

fn layout(table: &Table) -> Result<Layout, Flaw> {
    let (bytes, align) = (table.state_bytes, table.state_align);
    if bytes > MOST_STATE_BYTES {
        return Err(Flaw::new(format!("a state of {bytes} bytes"), format!("at most {MOST_STATE_BYTES}")));
    }
    let aligned = Layout::from_size_align(bytes.max(1) as usize, align as usize).ok();
    aligned.filter(|_| align <= MOST_ALIGN).ok_or_else(|| {
        Flaw::new(format!("a state aligned to {align}"), format!("state_align, a power of two up to {MOST_ALIGN}"))
    })
}

fn needs(bits: u32) -> Result<(Needs, LossResponse), Flaw> {
    let has = |bit: u32| bits & bit != 0;
    if bits & !ALL_NEEDS != 0 {
        return Err(Flaw::new(format!("needs {bits:#x}"), "flags of packetscale/controller.h, combined with |"));
    }
    let ecn = match (has(abi::SENDS_ECT0), has(abi::SENDS_ECT1)) {
        (true, true) => return Err(Flaw::new("both ECT(0) and ECT(1)", "one of them, or none")),
        (true, false) => Ecn::Ect0,
        (false, true) => Ecn::Ect1,
        (false, false) => Ecn::NotEct,
    };
    let needs = Needs {
        arrivals: has(abi::NEEDS_ARRIVALS),
        rate_samples: has(abi::NEEDS_RATE_SAMPLES),
        available: has(abi::NEEDS_AVAILABLE),
        ecn,
        offers: has(abi::NEEDS_OFFERS),
    };
    let own = if has(abi::OWN_WINDOW) { LossResponse::OwnWindow } else { LossResponse::ProportionalReduction };
    Ok((needs, own))
}

fn calls(table: &Table) -> Result<Calls, Flaw> {
    let missing = |name: &str| Flaw::new(format!("no function \"{name}\""), "one: the header says which are required");
    Ok(Calls {
        start: table.start.ok_or_else(|| missing("start"))?,
        on_ack: table.on_ack.ok_or_else(|| missing("on_ack"))?,
        on_loss: table.on_loss.ok_or_else(|| missing("on_loss"))?,
        on_timeout: table.on_timeout.ok_or_else(|| missing("on_timeout"))?,
        on_sent: table.on_sent,
        on_mark: table.on_mark,
        on_undo: table.on_undo,
        on_offer: table.on_offer,
        on_available: table.on_available,
    })
}

fn settings(table: &'static Table) -> Result<Vec<&'static dyn Declared>, Flaw> {
    let count = table.settings_count;
    if count > MOST_SETTINGS || (count > 0 && table.settings.is_null()) {
        return Err(Flaw::new(
            format!("{count} settings"),
            format!("as many as \"settings\" has, at most {MOST_SETTINGS}"),
        ));
    }
    let mut declarations: Vec<&'static dyn Declared> = Vec::new();
    for index in 0..count {
        // Safety: the object declares this number of them.
        let one = declared(unsafe { &*table.settings.add(index as usize) }, index + 1)?;
        if declarations.iter().any(|other| other.name() == one.name()) {
            return Err(Flaw::new(format!("setting \"{}\" twice", one.name()), "each once"));
        }
        declarations.push(one);
    }
    Ok(declarations)
}
