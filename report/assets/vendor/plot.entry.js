// What the pages draw with. esbuild leaves out what none of this uses.
export { plot, areaY, dot, frame, line, lineY, rect, ruleX, ruleY, text } from "@observablehq/plot";
export { bisectLeft, extent, format, max, mean, min, scaleLog } from "d3";
