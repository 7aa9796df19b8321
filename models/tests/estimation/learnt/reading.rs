//! A second implementation of the learnt estimator, from its description (`rapid/features.h`, `rapid/learnt.h`). It
//! uses whole streams in lists and 128-bit numbers; the law goes packet by packet in 64 bits.

const UNIT: i128 = 16384;
const MOST: i128 = 32767;

/// A packet of the stream: its number, when it was sent and its delay, in units of the stream's time.
#[derive(Clone, Copy)]
struct Packet {
    number: usize,
    t: i128,
    x: i128,
}

fn limited(x: i128) -> i128 {
    x.clamp(-MOST, MOST)
}

/// Returns the features of gaps in 1/1024 ns; `None` if no batch begins, or beyond 4 s.
pub fn features(send: &[u64], receive: &[u64]) -> Option<Vec<i16>> {
    let n = send.len();
    let whole: i128 = send.iter().map(|gap| i128::from(*gap)).sum();
    let units = |x: i128| limited(x.clamp(-(1 << 48), 1 << 48) * UNIT / whole);
    let mut packets = vec![Packet { number: 0, t: 0, x: 0 }];
    let (mut time, mut delay) = (0, 0);
    for (i, (s, r)) in send.iter().zip(receive).enumerate() {
        time += i128::from(*s);
        delay += i128::from(*r) - i128::from(*s);
        packets.push(Packet { number: i + 1, t: units(time), x: units(delay) });
    }
    if whole >> 42 > 0 || receive.iter().map(|gap| i128::from(*gap)).sum::<i128>() >> 48 > 0 {
        return None;
    }
    let begins: Vec<usize> = (0..n).filter(|i| i128::from(receive[*i]) * 4 * n as i128 >= whole).collect();
    if begins.is_empty() {
        return None;
    }
    let lasts: Vec<Packet> = begins.iter().map(|i| packets[*i]).collect();
    let firsts: Vec<Packet> = begins.iter().map(|i| packets[i + 1]).collect();
    let (first, last) = (firsts[0], firsts[firsts.len() - 1]);
    let lowest = |part: &[Packet]| part.iter().map(|p| p.x).min().unwrap();
    let share = |count: usize| count as i128 * 4096 / n as i128;
    let rate = |count: usize, time: i128| count as i128 * UNIT * 4096 / n as i128 / time.max(1);

    // A batch lasts until the next begins; its first packet does not count, the packet before all others does.
    let mut ends = begins.clone();
    ends.push(n - 1);
    let mut longest = begins[0] + 1;
    for pair in ends.windows(2) {
        longest = longest.max(pair[1] - pair[0]);
    }
    let noise: i128 = packets.windows(2).map(|pair| (pair[1].x - pair[0].x).abs()).sum();
    let sent = last.t - first.t;
    let mut out = vec![
        n as i128,
        share(begins.len()),
        share(longest),
        first.t,
        last.t,
        packets[n].x,
        lowest(&firsts) - lowest(&lasts),
        packets.iter().map(|p| p.x).max().unwrap() - lowest(&packets),
        noise / 64,
        rate(last.number - first.number, sent),
        rate(last.number - first.number, sent + last.x - first.x),
    ];
    for k in 0..4 {
        let part = &send[k * n / 4..(k + 1) * n / 4];
        out.push(rate(part.len(), units(part.iter().map(|gap| i128::from(*gap)).sum())));
    }
    for envelope in [&lasts, &firsts] {
        out.extend(parts(envelope, n + 1).iter().map(|x| x - lowest(envelope)));
    }
    for envelope in [&lasts, &firsts] {
        out.extend([0, UNIT / 2, UNIT / 4 * 3].map(|from| slope(envelope.iter().filter(|p| p.t >= from))));
    }
    for envelope in [&lasts, &firsts] {
        let within = |quarters: i128| lowest(envelope) + UNIT / n as i128 * quarters / 4;
        let onset = |quarters: i128| envelope.iter().rev().find(|p| p.x <= within(quarters)).unwrap().t;
        out.extend([1, 2, 4, 8, 16].map(onset));
    }
    let before = |k: usize| firsts.len().checked_sub(k + 1).map(|at| firsts[at]);
    out.extend((1..=4).map(|k| before(k).map_or(0, |p| last.t - p.t)));
    out.extend((1..=4).map(|k| before(k).map_or(0, |p| last.x - p.x)));
    let line = |t: i128, x: i128| if t > 0 { x * 4096 / t } else { 0 };
    out.extend([first.x, line(first.t, first.x), line(last.t, last.x), line(last.t - first.t, last.x - first.x)]);
    Some(out.into_iter().map(|x| limited(x) as i16).collect())
}

/// Returns the lowest delay of each eighth of the stream; if an eighth has none, that of the next with one, or else of
/// the one before.
fn parts(envelope: &[Packet], packets: usize) -> Vec<i128> {
    let lowest = |k: usize| envelope.iter().filter(|p| p.number * 8 / packets == k).map(|p| p.x).min();
    let known: Vec<Option<i128>> = (0..8).map(lowest).collect();
    let of = |k: usize| known[k..].iter().flatten().next().or(known[..k].iter().flatten().next_back());
    (0..8).map(|k| *of(k).unwrap()).collect()
}

/// Returns the least-squares slope in 1/4096.
fn slope<'a>(points: impl Iterator<Item = &'a Packet>) -> i128 {
    let points: Vec<&Packet> = points.collect();
    let sum = |f: fn(&Packet) -> i128| points.iter().map(|p| f(p)).sum::<i128>();
    let (n, t) = (points.len() as i128, sum(|p| p.t));
    let run = n * sum(|p| p.t * p.t) - t * t;
    if run > 0 { (n * sum(|p| p.t * p.x) - t * sum(|p| p.x)) * 4096 / run } else { 0 }
}

/// The feature number that marks a leaf: one beyond the last feature.
const LEAF: u32 = 59;

/// The trees, as training/ wrote them.
pub struct Trees {
    text: &'static str,
    roots: Vec<usize>,
    nodes: Vec<u32>,
}

impl Trees {
    pub fn read() -> Trees {
        let text = include_str!("../../../../law/include/rapid/learnt_model.h");
        let list = |name: &str| {
            let from = text.find(name).expect("the list") + name.len();
            let inner = text[from..].split_once('{').expect("its begin").1.split_once('}').expect("its end").0;
            let words = inner.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.map(|word| match word.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16).expect("a word"),
                None => word.parse().expect("a number"),
            })
        };
        let roots = list("rapid_learnt_roots").map(|root| root as usize).collect();
        Trees { text, roots, nodes: list("rapid_learnt_nodes").collect() }
    }

    fn constant(&self, name: &str) -> i32 {
        let line = self.text.lines().find(|line| line.starts_with(&format!("#define RAPID_{name} ")));
        line.expect("a constant").split(' ').nth(2).expect("a value").parse().expect("a number")
    }

    /// Returns how many bytes the lists take.
    pub fn size(&self) -> usize {
        4 * self.nodes.len() + 2 * self.roots.len()
    }

    /// Panics unless every node of a tree leads to a later node of the same tree, and every leaf to itself. Returns the
    /// depth of the deepest tree.
    pub fn deepest(&self, forest: &str) -> usize {
        let first = self.constant(&format!("{forest}_FIRST")) as usize;
        let trees = self.constant(&format!("{forest}_TREES")) as usize;
        let ends = |tree: usize| self.roots.get(tree + 1).copied().unwrap_or(self.nodes.len());
        (first..first + trees).map(|tree| self.below(self.roots[tree], 0, ends(tree))).max().expect("trees")
    }

    fn below(&self, root: usize, place: usize, end: usize) -> usize {
        let node = self.nodes[root + place];
        let (feature, child) = (node >> 8 & 255, (node & 255) as usize);
        if feature == LEAF {
            assert_eq!(child, place, "a leaf leads to itself");
            return 0;
        }
        assert!(feature < LEAF && child > place && root + child + 1 < end, "{place} of the tree at {root}");
        1 + self.below(root, child, end).max(self.below(root, child + 1, end))
    }

    pub fn depth(&self, forest: &str) -> usize {
        self.constant(&format!("{forest}_DEPTH")) as usize
    }

    /// Returns the sum over one forest.
    pub fn sum(&self, forest: &str, features: &[i16]) -> i32 {
        let first = self.constant(&format!("{forest}_FIRST")) as usize;
        let trees = self.constant(&format!("{forest}_TREES")) as usize;
        let leaf = |root: usize| {
            let mut node = self.nodes[root];
            while node >> 8 & 255 != LEAF {
                let more = features[(node >> 8 & 255) as usize] > (node >> 16) as i16;
                node = self.nodes[root + (node & 255) as usize + usize::from(more)];
            }
            i32::from((node >> 16) as i16)
        };
        self.constant(&format!("{forest}_BASE"))
            + self.roots[first..first + trees].iter().map(|r| leaf(*r)).sum::<i32>()
    }
}
