//! Kernels in virtual time: a host for each, the hidden command that is the first process of their machines, and
//! `packetscale fetch`.

#[cfg(feature = "kernel")]
pub use with_kernel::{ALONE, fetch, guest, hosts, own, usual};

#[cfg(feature = "kernel")]
mod with_kernel {
    use crate::args::Fetched;
    use crate::{Failure, say};
    use harness::runner::{Host, Refusal};
    use linux::virtual_time::{KeptKernel, KeptMachine, Kernel, Virtual, VirtualError, versions};
    use std::path::Path;
    use std::sync::OnceLock;

    /// What users who do not react send alone on a path: the simulator says.
    pub const ALONE: linux::lab::Alone =
        |experiment, index| simulator::alone(experiment, index).map_err(|error| Refusal::Input(error.to_string()));

    /// Versions that are listed even where they were not fetched, and the one that `--clock virtual` means.
    const LISTED: [&str; 2] = ["6.1", USUAL];
    const USUAL: &str = "6.12";

    /// A host for each kernel that is there or listed.
    pub fn hosts() -> Vec<&'static dyn Host> {
        static HOSTS: OnceLock<Vec<Virtual>> = OnceLock::new();
        let all = || {
            let mut known = versions();
            for listed in LISTED {
                if !known.iter().any(|there| there == listed) {
                    known.push(listed.to_string());
                }
            }
            known.iter().map(|version| host(version)).collect()
        };
        HOSTS.get_or_init(all).iter().map(|host| host as &dyn Host).collect()
    }

    fn host(version: &str) -> Virtual {
        let wanted = version.to_string();
        let kernel = Box::new(move || Kernel::cached(&wanted));
        let summary = format!("Linux {version} TCP in virtual time, inside an emulated machine");
        Virtual::new(
            // Names live as long as the program: there are a few.
            Box::leak(named(version).into_boxed_str()),
            Box::leak(summary.into_boxed_str()),
            kernel,
            ALONE,
            std::env::current_exe,
        )
    }

    /// The name of the host of a version.
    fn named(version: &str) -> String {
        format!("linux-{version}")
    }

    /// The name of the host that is meant where no version is said.
    pub fn usual() -> String {
        named(USUAL)
    }

    /// A host over a kernel of the user's own.
    pub fn own(kernel: &Path, modules: Option<&Path>) -> Virtual {
        let (file, modules) = (kernel.to_path_buf(), modules.map(Path::to_path_buf));
        let kernel = Box::new(move || Kernel::own(&file, modules.as_deref()));
        let summary = "a kernel of your own in virtual time, inside an emulated machine";
        Virtual::new("linux-own", summary, kernel, ALONE, std::env::current_exe)
    }

    /// Fetches a kernel of Debian's into the cache, or lists or cleans the cache.
    pub fn fetch(what: &Fetched) -> Result<(), Failure> {
        match what {
            Fetched::Kernel { version } => kernel(version),
            Fetched::List => list(),
            Fetched::Clean => clean(),
        }
    }

    fn kernel(version: &str) -> Result<(), Failure> {
        let package = linux::virtual_time::fetch(version)?;
        let run = format!("packetscale run FILE --on {}", named(version));
        say(&format!("{package} is in the cache; `{run}` uses it\n"))
    }

    const MEGABYTE: u64 = 1_000_000;

    fn machines() -> Result<Vec<KeptMachine>, Failure> {
        let own = std::env::current_exe().map_err(|error| Failure::Machine(format!("this program: {error}")))?;
        Ok(linux::virtual_time::machines(&own)?)
    }

    fn list() -> Result<(), Failure> {
        let mut lines = format!("{}\n", linux::virtual_time::cache()?.display());
        for KeptKernel { version, bytes } in linux::virtual_time::kernels()? {
            lines += &format!("kernel   {version:<30} {:>5} MB\n", bytes / MEGABYTE);
        }
        for machine in machines()? {
            let release = machine.release.as_deref().unwrap_or("unfinished");
            let use_of_it = match &machine.used_by {
                Some(version) => format!("runs --on {} begin from it", named(version)),
                None => "of another build, or of --kernel: `packetscale fetch clean` removes it".to_string(),
            };
            lines += &format!("machine  {release:<30} {:>5} MB  {use_of_it}\n", machine.bytes / MEGABYTE);
        }
        say(&lines)
    }

    fn clean() -> Result<(), Failure> {
        let (mut number, mut bytes) = (0, 0);
        for machine in machines()?.iter().filter(|machine| machine.used_by.is_none()) {
            if machine.remove()? {
                (number, bytes) = (number + 1, bytes + machine.bytes);
            }
        }
        say(&format!("removed {number} machines, {} MB; kernels stay\n", bytes / MEGABYTE))
    }

    /// The first process of an emulated machine.
    pub fn guest() -> Result<(), Failure> {
        if std::process::id() != 1 {
            return Err(Failure::Input("guest: found an ordinary process; an emulated machine calls this".to_string()));
        }
        linux::virtual_time::guest();
        Ok(())
    }

    impl From<VirtualError> for Failure {
        fn from(error: VirtualError) -> Failure {
            Failure::Machine(error.to_string())
        }
    }
}

/// In a build without Linux TCP there are none.
#[cfg(not(feature = "kernel"))]
pub fn hosts() -> Vec<&'static dyn harness::runner::Host> {
    Vec::new()
}
