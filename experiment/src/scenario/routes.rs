//! Which links something crosses, and which its acknowledgments cross on their way back: by their names, or between two
//! nodes.

use crate::scenario::document::Value;
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, text};
use crate::scenario::graph::{Found, Graph};
use crate::scenario::links::Network;
use packetscale_models::units::Span;

/// The most links of a route: hosts count them in a byte.
const MOST_LINKS: usize = u8::MAX as usize;

/// Returns the links that data cross, as indices: those of `route`, the shortest way between `from` and `to`, or
/// `through`.
pub(crate) fn route(
    fields: &mut Fields<'_>,
    network: &Network,
    through: &[usize],
) -> Result<Vec<usize>, ScenarioError> {
    let named = links_of(fields, "route", network)?;
    let route = match (&network.graph, named) {
        (None, named) => {
            no_nodes(fields)?;
            named.unwrap_or(through.to_vec())
        }
        (Some(_), Some(named)) => {
            if fields.get("from").is_some() || fields.get("to").is_some() {
                let expected = "either \"route\", which names links, or \"from\" and \"to\", which name nodes";
                return Err(fields.refuse("route", "a route beside \"from\" and \"to\"", expected));
            }
            named
        }
        (Some(graph), None) => {
            let (from, to) = (graph.node(fields, "from")?, graph.node(fields, "to")?);
            between(fields, network, graph, (from, to))?
        }
    };
    within(fields, "route", route)
}

/// Returns the links that acknowledgments of what takes `route` cross, as indices: those of [`back`]. Data do not cross
/// them.
pub(crate) fn back_for_acknowledgments(
    fields: &mut Fields<'_>,
    network: &Network,
    route: &[usize],
    through: &[usize],
) -> Result<Vec<usize>, ScenarioError> {
    let back = back(fields, network, route, through)?;
    if let Some(both) = route.iter().find(|link| back.contains(link)) {
        let both = &network.links[*both].link.name;
        if fields.has("back") {
            let found = format!("\"{both}\", which its data cross");
            return Err(fields.refuse("back", found, "other links than those of its route"));
        }
        let shortest = if network.graph.is_some() { "shortest " } else { "" };
        let back = names(network, &back);
        let found = format!("a way whose {shortest}way back, {back}, crosses \"{both}\", as its data do");
        return Err(fields.refuse(written(fields), found, OTHER_WAY_BACK));
    }
    Ok(back)
}

/// Returns the links on the way back of what takes `route`, as indices: those of `back`, the shortest way between the
/// nodes, or `through`; perhaps none.
pub(crate) fn back(
    fields: &mut Fields<'_>,
    network: &Network,
    route: &[usize],
    through: &[usize],
) -> Result<Vec<usize>, ScenarioError> {
    let named = links_of(fields, "back", network)?;
    let back = match (&network.graph, named) {
        (None, named) => named.unwrap_or(through.to_vec()),
        (Some(graph), named) => {
            let (from, to) = graph.ends(route).expect("a route has a link");
            match named {
                Some(named) if !named.is_empty() && graph.ends(&named) != Some((to, from)) => {
                    let expected = format!("links from \"{}\" to \"{}\"", graph.name(to), graph.name(from));
                    return Err(fields.refuse("back", names(network, &named), expected));
                }
                Some(named) => named,
                None => match graph.shortest(to, from) {
                    Found::None => Vec::new(),
                    Found::One(back) => back,
                    Found::Several(routes) => {
                        let found = format!("a way with {}", several("ways back", network, &routes));
                        return Err(fields.refuse(written(fields), found, chosen("back", network, &routes)));
                    }
                },
            }
        }
    };
    within(fields, "back", back)
}

/// Refuses a route that is too long.
fn within(fields: &Fields<'_>, key: &str, route: Vec<usize>) -> Result<Vec<usize>, ScenarioError> {
    if route.len() > MOST_LINKS {
        return Err(fields.refuse(key, format!("{} links", route.len()), format!("at most {MOST_LINKS} links")));
    }
    Ok(route)
}

/// Returns the one-way delay of a route.
pub(crate) fn delay(route: &[usize], network: &Network) -> Option<Span> {
    route
        .iter()
        .try_fold(0u64, |sum, index| sum.checked_add(network.links[*index].link.delay.picos()))
        .map(Span::from_picos)
}

/// The one shortest route between two nodes.
fn between(
    fields: &Fields<'_>,
    network: &Network,
    graph: &Graph,
    (from, to): (usize, usize),
) -> Result<Vec<usize>, ScenarioError> {
    if from == to {
        return Err(fields.refuse("to", format!("\"{}\", where it begins", graph.name(to)), "another node"));
    }
    match graph.shortest(from, to) {
        Found::One(route) => Ok(route),
        Found::None => {
            let found = format!("\"{}\", to which no links lead from \"{}\"", graph.name(to), graph.name(from));
            Err(fields.refuse("to", found, "a reachable node"))
        }
        Found::Several(routes) => {
            Err(fields.refuse("to", several("routes", network, &routes), chosen("route", network, &routes)))
        }
    }
}

/// The key that defines the data's route: of the two nodes the last, or the links.
fn written(fields: &Fields<'_>) -> &'static str {
    if fields.has("to") { "to" } else { "route" }
}

/// What to write where the shortest way back will not do.
const OTHER_WAY_BACK: &str = "back = [...] with other links, or back = [], where acknowledgments are only delayed";

fn several(ways: &str, network: &Network, routes: &[Vec<usize>; 2]) -> String {
    format!("several shortest {ways}: {} and {}", names(network, &routes[0]), names(network, &routes[1]))
}

/// How to choose one of several routes.
fn chosen(key: &str, network: &Network, routes: &[Vec<usize>; 2]) -> String {
    format!("the links that it takes instead, like {key} = {}", names(network, &routes[0]))
}

fn names(network: &Network, route: &[usize]) -> String {
    format!("[{}]", listed(route.iter().map(|link| network.links[*link].link.name.as_str())))
}

const LINKS: &str = "a list of link names like [\"first\", \"second\"]";

/// Returns the links that the list under this key names, if present. In a graph each begins where the one before
/// it ends.
fn links_of(
    fields: &mut Fields<'_>,
    name: &'static str,
    network: &Network,
) -> Result<Option<Vec<usize>>, ScenarioError> {
    let key = fields.key(name);
    let Some(node) = fields.get(name) else {
        return Ok(None);
    };
    let names = match &node.value {
        Value::List(names) if !names.is_empty() || name == "back" => names,
        Value::List(_) => return Err(ScenarioError::at(&node.place, key, "an empty list", LINKS)),
        other => return Err(ScenarioError::at(&node.place, key, other.described(), LINKS)),
    };
    let mut route = Vec::new();
    for item in names {
        let name = text(item, &key, LINKS)?;
        let known = || network.links.iter().map(|draft| draft.link.name.as_str());
        let index = known().position(|other| other == name).ok_or_else(|| {
            let found = format!("the unknown link \"{name}\"{}", perhaps(&name, known()));
            ScenarioError::at(&item.place, &key, found, format!("one of {}", listed(known())))
        })?;
        if route.contains(&index) {
            return Err(ScenarioError::at(&item.place, &key, format!("\"{name}\" twice"), "each link at most once"));
        }
        route.push(index);
        let Some(graph) = &network.graph else { continue };
        if let Some((_, node)) = graph.gap(&route) {
            let expected = format!("a link from \"{}\", where the one before it ends", graph.name(node));
            return Err(ScenarioError::at(&item.place, &key, format!("\"{name}\""), expected));
        }
        if let Some((_, node)) = graph.loops(&route) {
            let found = format!("\"{name}\", which leads back to \"{}\"", graph.name(node));
            return Err(ScenarioError::at(&item.place, &key, found, "each node at most once"));
        }
    }
    Ok(Some(route))
}

/// Refuses nodes where links join none.
fn no_nodes(fields: &Fields<'_>) -> Result<(), ScenarioError> {
    let given = ["from", "to"].into_iter().find(|key| fields.has(key));
    given.map_or(Ok(()), |key| Err(fields.refuse(key, "a node", "no node, or links [[link]] with \"from\" and \"to\"")))
}
