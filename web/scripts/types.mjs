// Types of the documents, from their complete JSON Schemas, which a build leaves in its folder schemas/: src/generated/<name>.ts and an
// index. Not in git: `npm run types`; PERFLAB_SCHEMAS=FOLDER names another folder.
// A document's interfaces live in a module of their own, since several documents have a "Kernel".
import { compile } from 'json-schema-to-typescript';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = ['dev', 'release'].map((preset) => fileURLToPath(new URL(`../../build/${preset}/schemas/`, import.meta.url)));
const schemas = process.env.PERFLAB_SCHEMAS ? `${process.env.PERFLAB_SCHEMAS}/` : built.find((folder) => existsSync(folder));
if (!schemas) throw new Error('no complete schemas: build first (target complete_schemas), or set PERFLAB_SCHEMAS');
const out = fileURLToPath(new URL('../src/generated/', import.meta.url));
const camel = (name) => name.replace(/(^|[_-])(\w)/g, (_, __, letter) => letter.toUpperCase());

/** Only where the text differs, and at once: a type checker may be reading the files. */
function put(file, text) {
  if (existsSync(out + file) && readFileSync(out + file, 'utf8') === text) return;
  const aside = fileURLToPath(new URL(`../node_modules/.types-${process.pid}-${file}`, import.meta.url));
  writeFileSync(aside, text);
  renameSync(aside, out + file);
}

mkdirSync(out, { recursive: true });
const names = readdirSync(schemas).filter((file) => file.endsWith('.schema.json')).map((file) => file.slice(0, -'.schema.json'.length)).sort();
for (const file of readdirSync(out)) if (file !== 'index.ts' && !names.includes(file.replace(/\.ts$/, ''))) rmSync(out + file, { force: true });
for (const name of names) {
  const schema = JSON.parse(readFileSync(`${schemas}${name}.schema.json`, 'utf8'));
  schema.title = `${camel(name)}Document`;
  const text = await compile(schema, schema.title, { format: false, bannerComment: `// From schemas/${name}.schema.json.`, maxItems: -1, ignoreMinAndMaxItems: true });
  put(`${name}.ts`, text);
}
const imports = names.map((name) => `import type { ${camel(name)}Document } from './${name}';`).join('\n');
const map = names.map((name) => `  ${name}: ${camel(name)}Document;`).join('\n');
put('index.ts', `// From the folder schemas/.\n${imports}\n\n/** The documents that the program writes, by name. */\nexport interface DocumentTypes {\n${map}\n}\n`);
