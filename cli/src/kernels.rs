//! Kernels in virtual time: a host for each.

#[cfg(feature = "kernel")]
pub use with_kernel::{ALONE, hosts, named, own, usual};

#[cfg(feature = "kernel")]
mod with_kernel {
    use harness::runner::{Host, Refusal};
    use linux::virtual_time::{Kernel, Virtual, versions};
    use std::path::Path;
    use std::sync::OnceLock;

    /// What users who do not react send alone on a path: the simulator says.
    pub const ALONE: linux::lab::Alone =
        |experiment, index| simulator::alone(experiment, index).map_err(|error| Refusal::Input(error.to_string()));

    /// Versions that are listed even where they were not fetched, and the one that is meant where no version is said.
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
    pub fn named(version: &str) -> String {
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
}

/// In a build without Linux TCP there are none.
#[cfg(not(feature = "kernel"))]
pub fn hosts() -> Vec<&'static dyn harness::runner::Host> {
    Vec::new()
}
