//! Links between named nodes: all routes, and the shortest.
//!
//! A shortest route is one with the fewest links, found breadth first. Of several, none is chosen: the route of
//! a flow decides what it meets, so a scenario has to name it.

use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, text};

/// Keys of a link that joins nodes.
const KEYS: [&str; 3] = ["from", "to", "duplex"];

/// The nodes, and which of them each link joins.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<String>,
    /// Of each link: where it begins, and where it ends.
    ends: Vec<(usize, usize)>,
}

/// What is found between two nodes.
pub(crate) enum Found {
    None,
    One(Vec<usize>),
    /// Two of several shortest routes.
    Several([Vec<usize>; 2]),
}

/// Whether links join nodes: one of these tables names them.
pub(crate) fn joins(tables: &[Node]) -> bool {
    let keys = |table: &Table| KEYS.iter().any(|key| table.get(key).is_some());
    tables.iter().any(|table| matches!(&table.value, Value::Table(table) if keys(table)))
}

impl Graph {
    /// Reads the nodes that a link joins. Returns their names.
    pub fn ends_of(fields: &mut Fields<'_>) -> Result<(String, String), ScenarioError> {
        const EXPECTED: &str = "the name of a node like \"A\": links have \"from\" and \"to\", or none has";
        let mut end = |key| {
            let name = fields.key(key);
            let node = text(fields.required(key, EXPECTED)?, &name, EXPECTED)?;
            if node.trim().is_empty() { Err(fields.refuse(key, "an empty name", EXPECTED)) } else { Ok(node) }
        };
        let (from, to) = (end("from")?, end("to")?);
        if from == to {
            return Err(fields.refuse("to", format!("\"{to}\", where it begins"), "another node"));
        }
        Ok((from, to))
    }

    /// Adds the next link.
    pub fn join(&mut self, from: &str, to: &str) {
        let mut number = |name: &str| {
            self.nodes.iter().position(|node| node == name).unwrap_or_else(|| {
                self.nodes.push(name.to_string());
                self.nodes.len() - 1
            })
        };
        let ends = (number(from), number(to));
        self.ends.push(ends);
    }

    /// Reads a node that some link joins.
    pub fn node(&self, fields: &mut Fields<'_>, key: &'static str) -> Result<usize, ScenarioError> {
        let names = || self.nodes.iter().map(String::as_str);
        let expected = format!("a node, one of {}", listed(names()));
        let dotted = fields.key(key);
        let name = text(fields.required(key, &expected)?, &dotted, &expected)?;
        names().position(|node| node == name).ok_or_else(|| {
            fields.refuse(key, format!("the unknown node \"{name}\"{}", perhaps(&name, names())), expected)
        })
    }

    pub fn name(&self, node: usize) -> &str {
        &self.nodes[node]
    }

    /// Where a route begins and ends.
    pub fn ends(&self, route: &[usize]) -> Option<(usize, usize)> {
        Some((self.ends[*route.first()?].0, self.ends[*route.last()?].1))
    }

    /// The first link of a route that does not begin where the one before it ends, and that node.
    pub fn gap(&self, route: &[usize]) -> Option<(usize, usize)> {
        let pair = route.windows(2).find(|pair| self.ends[pair[0]].1 != self.ends[pair[1]].0)?;
        Some((pair[1], self.ends[pair[0]].1))
    }

    /// The first link of a route that leads to a node where it has been, and that node.
    pub fn loops(&self, route: &[usize]) -> Option<(usize, usize)> {
        let mut been: Vec<usize> = route.first().map(|link| self.ends[*link].0).into_iter().collect();
        route.iter().find_map(|link| {
            let to = self.ends[*link].1;
            let again = been.contains(&to);
            been.push(to);
            again.then_some((*link, to))
        })
    }

    /// The route with the fewest links.
    pub fn shortest(&self, from: usize, to: usize) -> Found {
        let mut seen = vec![false; self.nodes.len()];
        seen[from] = true;
        // Nodes with a distance of the number of iterations: at most two of the routes to each.
        let mut reached: Vec<(usize, Vec<Vec<usize>>)> = vec![(from, vec![Vec::new()])];
        while !reached.is_empty() {
            let mut next: Vec<(usize, Vec<Vec<usize>>)> = Vec::new();
            for (node, routes) in &reached {
                for link in (0..self.ends.len()).filter(|link| self.ends[*link].0 == *node) {
                    let end = self.ends[link].1;
                    if seen[end] {
                        continue;
                    }
                    let at = next.iter().position(|(node, _)| *node == end).unwrap_or_else(|| {
                        next.push((end, Vec::new()));
                        next.len() - 1
                    });
                    let longer = routes.iter().map(|route| [route.as_slice(), &[link]].concat());
                    next[at].1.extend(longer);
                    next[at].1.truncate(2);
                }
            }
            if let Some((_, routes)) = next.iter_mut().find(|(node, _)| *node == to) {
                let second = routes.pop().expect("a node that is reached has a route");
                return routes.pop().map_or(Found::One(second.clone()), |first| Found::Several([first, second]));
            }
            next.iter().for_each(|(node, _)| seen[*node] = true);
            reached = next;
        }
        Found::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        links.iter().for_each(|(from, to)| graph.join(from, to));
        graph
    }

    fn between(graph: &Graph, from: &str, to: &str) -> Vec<Vec<usize>> {
        let node = |name| graph.nodes.iter().position(|node| node == name).unwrap();
        match graph.shortest(node(from), node(to)) {
            Found::None => Vec::new(),
            Found::One(route) => vec![route],
            Found::Several(routes) => routes.to_vec(),
        }
    }

    #[test]
    fn the_shortest_route_has_the_fewest_links() {
        let ring = graph(&[("A", "B"), ("B", "C"), ("C", "D"), ("A", "D"), ("D", "A")]);
        assert_eq!(between(&ring, "A", "D"), [vec![3]]);
        assert_eq!(between(&ring, "A", "C"), [vec![0, 1]]);
        assert_eq!(between(&ring, "B", "A"), [vec![1, 2, 4]]);
        assert_eq!(between(&ring, "D", "C"), [vec![4, 0, 1]]);
    }

    #[test]
    fn links_lead_one_way_only() {
        assert_eq!(between(&graph(&[("A", "B"), ("C", "B")]), "A", "C"), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn finds_two_equally_short_routes_wherever_they_part() {
        let diamond = graph(&[("A", "B"), ("A", "C"), ("B", "D"), ("C", "D"), ("D", "E")]);
        assert_eq!(between(&diamond, "A", "E"), [vec![0, 2, 4], vec![1, 3, 4]]);
        let parallel = graph(&[("A", "B"), ("A", "B"), ("A", "B"), ("B", "C")]);
        assert_eq!(between(&parallel, "A", "C"), [vec![0, 3], vec![1, 3]]);
    }

    #[test]
    fn a_route_has_no_gap_and_no_loop() {
        let ring = graph(&[("A", "B"), ("B", "C"), ("C", "A")]);
        assert_eq!((ring.gap(&[0, 1, 2]), ring.loops(&[0, 1])), (None, None));
        assert_eq!(ring.gap(&[0, 2]), Some((2, 1)));
        assert_eq!(ring.loops(&[1, 2, 0]), Some((0, 1)));
    }
}
