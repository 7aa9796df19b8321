//! Why a command ends with something else than 0.

use harness::runner::Refusal;
use std::path::Path;

/// Why the command ends with something else than 0.
pub enum Failure {
    /// An expectation was missed; the table has said which. Exit code 1.
    Missed,
    /// A command that this one started has printed what is wrong, and ended with this exit code.
    Reported(u8),
    /// The input is wrong. Exit code 2, which is also clap's for wrong arguments.
    Input(String),
    /// This machine cannot do it. Exit code 3.
    Machine(String),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Input(message) => Failure::Input(message),
            Refusal::Unfit(unfit) => Failure::Input(unfit.to_string()),
            Refusal::Machine(message) => Failure::Machine(message),
        }
    }
}

impl From<harness::runner::Error> for Failure {
    fn from(error: harness::runner::Error) -> Failure {
        match error {
            harness::runner::Error::Refused(refusal) => refusal.into(),
            harness::runner::Error::Unwritable { folder, error } => unwritable(&folder, &error),
            apart @ (harness::runner::Error::Apart { .. } | harness::runner::Error::Missing { .. }) => {
                Failure::Input(apart.to_string())
            }
            occupied @ harness::runner::Error::Occupied { .. } => Failure::Input(format!(
                "{occupied}; name another folder with --out, or replace what is there with --replace"
            )),
        }
    }
}

/// A folder or file that cannot be written: the input is wrong where its name is, else the machine fails, as with a full disk.
pub fn unwritable(place: &Path, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind::{
        AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        ReadOnlyFilesystem,
    };
    let message = format!("{}: cannot be written: {error}", place.display());
    match error.kind() {
        AlreadyExists | InvalidFilename | InvalidInput | IsADirectory | NotADirectory | NotFound | PermissionDenied
        | ReadOnlyFilesystem => Failure::Input(message),
        _ => Failure::Machine(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    /// Codes as `--help` lists them: 2 for an argument that is wrong, 3 for what the machine cannot do.
    #[test]
    fn full_disks_are_the_machines_and_wrong_names_the_inputs() {
        let is_machines = |kind| match unwritable(Path::new("out"), &Error::from(kind)) {
            Failure::Machine(_) => true,
            Failure::Input(_) => false,
            Failure::Missed | Failure::Reported(_) => panic!("{kind:?}"),
        };
        let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        assert_eq!(full.map(is_machines), [true; 3]);
        let misnamed = [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
        assert_eq!(misnamed.map(is_machines), [false; 3]);
        // EIO has no kind.
        assert!(matches!(unwritable(Path::new("out"), &Error::from_raw_os_error(5)), Failure::Machine(_)));
    }
}
