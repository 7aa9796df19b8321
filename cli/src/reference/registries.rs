//! Controllers, queue disciplines, estimators and denoisers with their settings.

use super::{assert_documented, code, table};
use experiment::scenario::KERNEL_QUEUES;
use packetscale_models::settings::{Described, Parameters};

const HEAD: [&str; 4] = ["setting", "default", "range", "meaning"];

/// An entry: its summary, with a link to the page that explains it, and its settings.
fn entry(name: &str, summary: &str, parameters: Parameters) -> String {
    section(name, &format!("{summary} ([law](../algorithms/{name}.md))"), parameters)
}

fn section(name: &str, summary: &str, parameters: Parameters) -> String {
    let row = |parameter: &&dyn Described| {
        [code(parameter.name()), parameter.default(), parameter.range(), parameter.doc().to_string()]
    };
    let settings = match parameters {
        [] => "No settings.\n".to_string(),
        some => table(HEAD, some.iter().map(row)),
    };
    format!("\n## {name}\n\n{summary}.\n\n{settings}")
}

#[test]
fn controllers() {
    let about = "# Controllers

`packetscale list controllers` prints the same. In a scenario a controller is its name, or a table with settings:
`controller = { kind = \"cubic\", beta = 0.8 }`. Times, rates, packets and data are text with a unit. Every table also takes
`label`, its name in results. A controller of your own is `{ kind = \"c\", file = \"mine.so\" }`, with the settings that its file
declares ([your own controller](../your-own-controller.md)).
";
    let all = packetscale_models::congestion::registry().iter();
    let entries: String = all.map(|of| entry(of.name, of.summary, of.parameters)).collect();
    assert_documented("controllers.md", &format!("{about}{entries}"));
}

#[test]
fn queues() {
    let about = "# Queue disciplines

`packetscale list queues` prints the same. In a scenario a discipline is its name, or a table with settings:
`queue = { kind = \"codel\", target = \"10 ms\" }`. The key `buffer` of the link sets its limit.
";
    let all = packetscale_models::queueing::registry().iter();
    let entries: String = all.map(|of| entry(of.name, of.summary, of.parameters)).collect();
    let kernels = KERNEL_QUEUES.map(|(name, summary)| [code(name), summary.to_string()]);
    let kernels = format!("\n## Of Linux\n\n{}", table(["name", "discipline"], kernels));
    assert_documented("queues.md", &format!("{about}{entries}{kernels}"));
}

#[test]
fn estimators() {
    use packetscale_models::estimation;
    let about = "# Estimators and denoisers

`packetscale list estimators` and `list denoisers` print the same. A method joins any number of denoisers and one estimator:
`normalise+bass(head=keep)+multi-rate(epsilon=250 ns)` ([estimation](../estimation.md)).
";
    let estimators = estimation::estimators().iter().map(|of| section(of.name, of.summary, of.parameters));
    let denoisers = estimation::denoisers().iter().map(|of| section(of.name, of.summary, of.parameters));
    let entries: String = estimators.chain(denoisers).collect();
    assert_documented("estimators.md", &format!("{about}{entries}"));
}
