// Makes plot.min.js, the one library of the pages, and LICENSES from the packages of package-lock.json, whose digests npm
// verifies: `npm ci --ignore-scripts && npm run make`. `npm run check` says whether the committed files are what the lock gives.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));

// The folder of the package that a bundled file is from: `node_modules/d3-array`, `node_modules/@observablehq/plot`.
const home = (input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0];

// The packages that share the words of a licence, with their copyrights.
function licences(homes) {
  const alike = new Map();
  for (const home of homes) {
    const file = readdirSync(home).find((name) => /^licen[cs]e/i.test(name));
    const paragraphs = readFileSync(`${home}/${file}`, "utf8").trim().split(/\n\s*\n/);
    const holders = paragraphs.filter((text) => /^copyright/i.test(text.trim())).join("; ");
    const words = paragraphs.filter((text) => !/^copyright/i.test(text.trim()) && !/^(the )?(MIT|ISC) license/i.test(text.trim())).join("\n\n").replace(/[^\S\n]+$/gm, "");
    const key = words.replace(/\s+/g, " ");
    if (!alike.has(key)) alike.set(key, { words, packages: [] });
    alike.get(key).packages.push(`${home.replace("node_modules/", "")} ${packages[home].version}${holders && `: ${holders.replace(/\s+/g, " ")}`}`);
  }
  return [...alike.values()].map(({ words, packages }) => `${packages.join("\n")}\n\n${words}\n`).join("\n---\n\n");
}

const options = { entryPoints: ["plot.entry.js"], bundle: true, minify: true, format: "iife", globalName: "Plot", legalComments: "none", metafile: true, write: false };
const { metafile } = await build(options);
const [output] = Object.values(metafile.outputs);
const used = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([input]) => home(input));
const terms = licences([...new Set(used.filter(Boolean))].sort());
const { outputFiles: [made] } = await build({ ...options, banner: { js: `/*!\n${terms.replaceAll("*/", "* /")}*/` } });

const files = { "plot.min.js": made.text, LICENSES: terms };
for (const [name, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) writeFileSync(name, text);
  else if (readFileSync(name, "utf8") !== text) throw new Error(`${name}: found other bytes; expected what package-lock.json gives (npm run make)`);
}
