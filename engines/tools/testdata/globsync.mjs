// The conformance tests import fs.globSync, which Node has since 22; those of clients do not call it.
import { register } from "node:module";

const fs = 'data:text/javascript,export * from "node:fs"; export const globSync = undefined;';
const hooks = `export const resolve = (name, context, next) => name === "fs" && context.parentURL?.includes("/conformance/")
  ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
