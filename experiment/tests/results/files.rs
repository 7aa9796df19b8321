//! The files that are written for results.

use experiment::results::{
    Environment, FlowResult, HostLabel, Manifest, Print, Results, Run, SCHEMA, Series, Summary, TrafficResult, WIDTH,
    to_json, to_table, write, write_file,
};
use std::collections::BTreeMap;
use std::fs;

fn run(controller: &str, replication: u32, utilisation: f64, cpu_s: f64) -> Run {
    Run {
        controller: controller.to_string(),
        colour: "#D55E00".to_string(),
        seed: 7 + u64::from(replication),
        replication,
        params: BTreeMap::from([("path.buffer".to_string(), "1 bdp, \"whole\"".to_string())]),
        summary: Summary {
            utilisation: Some(utilisation),
            throughput_bps: Some(0.1 + 0.2),
            convergence_s: Some(0.25),
            packets_delivered: u64::MAX,
            cpu_s: Some(cpu_s),
            ..Summary::default()
        },
        flows: vec![FlowResult { controller: controller.to_string(), streams: Some(3), ..FlowResult::default() }],
        traffic: vec![TrafficResult { kind: "cbr".to_string(), packets: 5, ..TrafficResult::default() }; 2],
        series: vec![Series {
            metric: "rtt".to_string(),
            flow: Some(0),
            unit: "s".to_string(),
            start_s: 0.5,
            step_s: 1.0,
            values: vec![Some(0.5), None],
        }],
        queue_delay: Default::default(),
        ..Run::default()
    }
}

fn results(cpu_s: f64) -> Results {
    Results {
        schema: SCHEMA,
        host: HostLabel { name: "simulator".to_string(), ..HostLabel::default() },
        manifest: Manifest { environment: Environment { cores: 2, ..Default::default() }, ..Default::default() },
        runs: vec![run("rapid", 0, 0.9, cpu_s), run("rapid", 1, 1.0, cpu_s), run("cubic", 0, 0.5, cpu_s)],
        expectations: Vec::new(),
    }
}

/// Writes all files of the results. Returns them by name.
fn written(results: &Results) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(results, folder.path()).expect("a folder that can be written");
    let entries = fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file")))
        .collect()
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).expect("text")
}

/// The rows of a table, by their columns.
fn rows(files: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(files[name].as_slice()).deserialize().map(|row| row.expect("a row")).collect()
}

fn json(results: &Results) -> serde_json::Value {
    serde_json::from_str(&to_json(results)).expect("JSON")
}

const WIDE: Print = Print { colours: false, wide: true };

/// The line of the printed table for cubic.
fn line_of_cubic(results: &Results) -> String {
    let table = to_table(results, WIDE);
    table.lines().find(|line| line.starts_with("cubic")).expect("a line").to_string()
}

#[test]
fn writes_files_of_every_table_and_removes_others() {
    let tables = "completions flows links phases runs series shares timing traffic transfers windows".split(' ');
    let formats: &[&str] = if cfg!(feature = "parquet") { &["csv", "parquet"] } else { &["csv"] };
    let of_tables = tables.flat_map(|table| formats.iter().map(move |format| format!("{table}.{format}")));
    let others = ["dictionary.csv", "manifest.json", "runs.ndjson"].map(str::to_string);
    let mut expected: Vec<String> = of_tables.chain(others).collect();
    expected.sort();
    assert_eq!(written(&results(0.0)).into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn processor_time_changes_nothing_but_the_table_of_timing() {
    let (mut quick, mut slow) = (written(&results(0.5)), written(&results(2.5)));
    let timings = |files: &mut BTreeMap<String, Vec<u8>>| (files.remove("timing.csv"), files.remove("timing.parquet"));
    assert_ne!(timings(&mut quick), timings(&mut slow));
    assert_eq!(quick, slow);
}

#[test]
fn a_row_of_runs_holds_identity_swept_keys_and_figures() {
    let rows = rows(&written(&results(0.0)), "runs.csv");
    assert_eq!((rows.len(), rows[2]["controller"].as_str()), (3, "cubic"));
    for (column, cell) in [
        ("run", "1"),
        ("seed", "8"),
        ("path.buffer", "1 bdp, \"whole\""),
        ("throughput_bps", "0.30000000000000004"),
        ("packets_delivered", "18446744073709551615"),
        ("rtt_mean_s", ""),
        ("rise_rtts", ""),
    ] {
        assert_eq!(rows[1][column], cell, "{column}");
    }
}

#[test]
fn curves_become_one_row_per_point() {
    let series = text(&written(&results(0.0)), "series.csv");
    let lines: Vec<&str> = series.lines().take(3).collect();
    assert_eq!(lines, ["run,metric,flow,unit,time_s,value", "0,rtt,0,s,0.5,0.5", "0,rtt,0,s,1.5,"]);
}

#[test]
fn sources_of_traffic_are_numbered() {
    let traffic = text(&written(&results(0.0)), "traffic.csv");
    assert_eq!(traffic.lines().nth(2), Some("0,1,cbr,,,,,5,0,,,,,,,,,,,,,"));
}

#[test]
fn a_line_of_ndjson_reads_again_as_the_run() {
    let mut results = results(0.0);
    let lines = text(&written(&results), "runs.ndjson");
    let again: Vec<Run> = lines.lines().map(|line| serde_json::from_str(line).expect("a run")).collect();
    // The cost of a run is not in its line.
    results.runs.iter_mut().for_each(|run| run.summary.cpu_s = None);
    assert_eq!(again, results.runs);
}

/// Files of earlier versions have `null` where there is no figure, and lack figures that came later.
#[test]
fn a_line_of_an_earlier_version_is_read() {
    let run = r##"{"controller":"cubic","colour":"#000","seed":1,"replication":0,"params":{},
        "summary":{"throughput_bps":5.0,"utilisation":0.5,"available_share":null,"loss_ratio":0.0,"drop_ratio":0.0,
            "steady_loss_ratio":null,"queue_delay_mean_s":null,"queue_delay_p50_s":null,"queue_delay_p95_s":null,
            "queue_delay_p99_s":null,"queue_over_bound":null,"rtt_mean_s":null,"fairness_jain":1.0,
            "fairness_jain_after_entry":null,"convergence_s":null,"convergence_rtts":null,"rise_rtts":null,
            "fall_rtts":null,"settle_rtts":null,"rise_hold_share":null,"drain_rtts":null,"rate_variation":null,
            "variation_left":null,"hurst":null,"packets_delivered":7,"packet_hops":null,"events":null},
        "flows":[],"traffic":[{"kind":"cbr","mean_rate_bps":null,"rate_p05_bps":null,"rate_p95_bps":null,
            "burstiness_bps":null,"packets":3,"dropped_packets":0}],
        "series":[],"queue_delay":{"upper_s":[],"count":[]},"streams":[]}"##;
    let run: Run = serde_json::from_str(run).expect("a run");
    assert_eq!((run.summary.throughput_bps, run.summary.rtt_mean_s), (Some(5.0), None));
    assert_eq!((run.summary.mark_ratio, run.summary.packets_delivered), (None, 7));
    assert_eq!((run.traffic[0].mean_rate_bps, run.traffic[0].packets), (None, 3));
}

#[test]
fn the_dictionary_explains_every_column_of_every_table_but_the_swept_keys() {
    let files = written(&results(0.0));
    let dictionary = text(&files, "dictionary.csv");
    for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".csv") && *name != "dictionary.csv") {
        let mut reader = csv::Reader::from_reader(content.as_slice());
        for column in reader.headers().expect("a head").iter().filter(|column| *column != "path.buffer") {
            let entry = format!("{},{column},", name.trim_end_matches(".csv"));
            assert!(dictionary.lines().any(|line| line.starts_with(&entry)), "{entry}");
        }
    }
}

/// fastparquet cannot read a dictionary page of no values.
#[cfg(feature = "parquet")]
#[test]
fn parquet_columns_without_a_value_have_no_dictionary() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let files = written(&results(0.0));
    let mut found = 0;
    for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".parquet")) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(content.clone())).expect("a Parquet file");
        for column in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
            let nulls = column.statistics().and_then(|statistics| statistics.null_count_opt());
            if nulls == Some(column.num_values() as u64) {
                assert_eq!(column.dictionary_page_offset(), None, "{name}: {}", column.column_path());
                found += 1;
            }
        }
    }
    assert!(found > 0);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_what_csv_holds() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let files = written(&results(0.0));
    for name in ["runs", "flows", "shares", "traffic", "series", "timing"] {
        let mut csv = csv::Reader::from_reader(files[&format!("{name}.csv")].as_slice());
        let head: Vec<String> = csv.headers().expect("a head").iter().map(str::to_string).collect();
        let bytes = files[&format!("{name}.parquet")].clone();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
        let records: Vec<_> = csv.records().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), records.len(), "{name}");
        for (row, record) in rows.iter().zip(&records) {
            for ((column, field), (expected, cell)) in row.get_column_iter().zip(head.iter().zip(record)) {
                assert_eq!(column, expected, "{name}");
                match field {
                    Field::Null => assert_eq!(cell, "", "{name}.{column}"),
                    Field::Str(text) => assert_eq!(cell, text, "{name}.{column}"),
                    Field::ULong(count) => assert_eq!(cell, count.to_string(), "{name}.{column}"),
                    Field::Double(figure) => assert_eq!(cell.parse(), Ok(*figure), "{name}.{column}"),
                    other => panic!("{name}.{column}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn the_object_of_json_has_schema_host_and_flat_runs() {
    let object = json(&results(1.5));
    assert_eq!(object["schema"], 1);
    assert_eq!(object["host"], "simulator");
    let run = &object["runs"][0];
    assert_eq!(run["controller"], "rapid");
    assert_eq!(run["params"]["path.buffer"], "1 bdp, \"whole\"");
    assert_eq!(run["utilisation"], 0.9);
    assert_eq!(run["cpu_s"], 1.5);
    let wanted = [
        "controller",
        "seed",
        "params",
        "throughput_bps",
        "utilisation",
        "loss_ratio",
        "queue_delay_mean_s",
        "queue_delay_p50_s",
        "queue_delay_p95_s",
        "queue_delay_p99_s",
        "rtt_mean_s",
        "fairness_jain",
        "convergence_s",
        "packets_delivered",
        "packet_hops",
        "events",
        "cpu_s",
    ];
    for key in wanted {
        assert!(run.get(key).is_some(), "{key}");
    }
}

#[test]
fn the_table_shows_means_with_intervals_and_dashes_where_there_is_nothing() {
    let table = to_table(&results(0.0), WIDE);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("controller  path.buffer"), "{}", lines[0]);
    // Two runs have no interval: 0.9 and 1.0.
    assert!(lines[1].starts_with("rapid") && lines[1].contains(" 95.00 (90.00 to 100.00) "), "{}", lines[1]);
    assert_eq!(lines[3], "2 runs: no interval. In brackets: smaller and larger value.");
    assert!(lines[2].starts_with("cubic") && lines[2].contains(" 50.00 "), "{}", lines[2]);
    assert!(lines[2].contains(" - "), "{}", lines[2]);
    assert!(!table.contains('\x1b'));
    assert!(to_table(&results(0.0), Print { colours: true, wide: true }).contains("\x1b[38;2;213;94;0mrapid"));
}

/// Without traffic, all capacity is available: two columns would say the same.
#[test]
fn a_table_fits_its_width_and_says_that_there_is_more() {
    let mut results = results(0.0);
    for run in &mut results.runs {
        run.controller = format!("{} + another with a label that is longer than a name", run.controller);
        run.summary.available_share = run.summary.utilisation;
        let figures = &mut run.summary;
        (figures.queue_delay_p50_s, figures.queue_delay_p99_s, figures.rtt_mean_s) =
            (Some(1e-3), Some(2e-3), Some(0.1));
    }
    let table = to_table(&results, Print::default());
    assert!(table.lines().all(|line| line.chars().count() <= WIDTH), "{table}");
    assert!(table.contains("\nrapid + another with a label that is lo…  "), "{table}");
    let head = table.lines().next().expect("a line");
    assert!(head.contains("used %") && head.contains("queue p99 ms") && !head.contains("available share"), "{head}");
    assert!(table.contains("\nMore columns: --wide\n"), "{table}");
    let wide = to_table(&results, WIDE);
    assert!(wide.lines().next().expect("a line").contains("available share %") && !wide.contains("--wide"), "{wide}");
}

/// Half of 64 kbit/s.
#[test]
fn small_rate_is_not_printed_as_zero() {
    let mut results = results(0.0);
    results.runs.iter_mut().for_each(|run| run.summary.throughput_bps = Some(32e3));
    let cubic = line_of_cubic(&results);
    assert!(cubic.contains(" 0.032 "), "{cubic}");
}

#[test]
fn equal_runs_have_no_range() {
    let mut results = results(0.0);
    results.runs.push(run("cubic", 1, 0.5, 0.0));
    let cubic = line_of_cubic(&results);
    assert!(cubic.contains(" 50.00 ") && !cubic.contains("50.00 to"), "{cubic}");
}

#[test]
fn failed_write_keeps_earlier_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_file(folder.path(), "x", |out| out.write_all(b"old")).expect("written");
    let failed = write_file(folder.path(), "x", |out| {
        out.write_all(b"new")?;
        Err(std::io::Error::other("full"))
    });
    assert!(failed.is_err());
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("entry").file_name()).collect();
    assert_eq!(names, ["x"]);
    assert_eq!(fs::read(folder.path().join("x")).expect("the file"), b"old");
}

#[test]
fn swept_values_are_numbers_with_their_unit_in_every_format() {
    let mut results = results(0.0);
    for (run, delay) in results.runs.iter_mut().zip(["2.5 ms", "2.5 ms", "15 ms"]) {
        run.params = BTreeMap::from([("path.delay".to_string(), delay.to_string())]);
    }
    let files = written(&results);
    let cells: Vec<String> = rows(&files, "runs.csv").iter().map(|row| row["path.delay_s"].clone()).collect();
    assert_eq!(cells, ["0.0025", "0.0025", "0.015"]);
    let lines = text(&files, "runs.ndjson");
    assert_eq!(lines.matches(r#""params":{"path.delay_s":0.0025}"#).count(), 2);
    let again: Run = serde_json::from_str(lines.lines().next().expect("a line")).expect("a run");
    assert_eq!(again.params["path.delay_s"], "0.0025");
    assert_eq!(json(&results)["runs"][2]["params"]["path.delay_s"], 0.015);
    // The printed table is for people: as the scenario writes it.
    assert!(to_table(&results, WIDE).contains("2.5 ms"));
}

#[test]
fn removes_partial_files_only() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [".runs.csv.partial", "runs.csv", ".hidden", "thesis.partial"] {
        std::fs::write(folder.path().join(name), "x").expect("written");
    }
    experiment::results::remove_partial(folder.path());
    let left = std::fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, [".hidden", "runs.csv", "thesis.partial"]);
}

#[test]
fn mix_lists_shares_and_reason_above_100_percent() {
    let mut results = results(0.0);
    let share = |controller: &str, share: f64| experiment::results::ControllerShare {
        controller: controller.to_string(),
        flows: 1,
        throughput_bps: Some(share * 1e6),
        share: Some(share),
        ..experiment::results::ControllerShare::default()
    };
    assert!(!to_table(&results, WIDE).contains("share of each"));
    for (run, rapid) in results.runs.iter_mut().zip([0.2, 0.3, 0.5]) {
        run.shares = vec![share("rapid", rapid), share("cubic", 1.0 - rapid)];
        run.summary.available_share = Some(1.0);
    }
    let table = to_table(&results, WIDE);
    // The mean of 0.2 and 0.3.
    assert!(table.lines().nth(1).expect("rapid").ends_with("  rapid 25.0, cubic 75.0"), "{table}");
    assert!(table.lines().nth(2).expect("cubic").ends_with("  rapid 50.0, cubic 50.0"), "{table}");
    assert!(!table.contains("Above 100 %"), "{table}");
    // A packet more or less in a short run is no news.
    results.runs[2].summary.available_share = Some(1.000_9);
    assert!(!to_table(&results, WIDE).contains("Above 100 %"));
    results.runs[2].summary.available_share = Some(1.2);
    assert!(to_table(&results, WIDE).contains("\nAbove 100 % of the available capacity, "), "{table}");
    let files = written(&results);
    let shares = text(&files, "shares.csv");
    let lines: Vec<&str> = shares.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            "run,phase,controller,flows,throughput_bps,share,queue_delay_p50_s,queue_delay_p99_s",
            "0,,rapid,1,200000.0,0.2,,",
        ]
    );
    assert_eq!(json(&results)["runs"][2]["shares"][1]["share"], 0.5);
}

#[test]
fn share_above_100_percent_lists_possible_reasons_only() {
    let mut results = results(0.0);
    results.runs.iter_mut().for_each(|run| run.summary.available_share = Some(1.2));
    results.runs.iter_mut().flat_map(|run| &mut run.traffic).for_each(|source| source.dropped_packets = 0);
    let said = |results: &experiment::results::Results| {
        let groups = experiment::results::groups(&results.runs);
        experiment::results::why_above_all(results, &groups).expect("a reason")
    };
    results.manifest.scenario = "run = { warmup = \"0 s\" }".to_string();
    assert_eq!(said(&results), "Above 100 % of the available capacity, for no known reason.");
    results.manifest.conditions = vec![format!("{}: 3 % at most", experiment::results::CHANGES_LET_THROUGH)];
    assert_eq!(
        said(&results),
        format!("Above 100 % of the available capacity: {}.", experiment::results::CHANGES_LET_THROUGH)
    );
    results.manifest.scenario = "run = { warmup = \"1 s\" }\nlink = [{ shaper = { rate = \"1 Mbit/s\" } }]".to_string();
    let all = said(&results);
    assert!(all.contains("for one or more of these reasons: packets queued at the end"), "{all}");
    assert!(all.contains("shaper") && !all.contains("dropped"), "{all}");
}
