// One program, six calls of a plugin: the five largest Go files of this repository, and how many lines each has.
// It is what a model would send to exec; Files is the namespace that plugins/files declares.
const { entries } = await Files.list({ path: "/repo", recursive: true, glob: "*.go", sort: "size", limit: 5 });
const counted = await Promise.all(entries.map((e) => Files.read({ path: e.path, limit: 0 })));

const table = [["lines", "bytes", "file"], ...counted.map((f) => [f.lines, f.bytes, f.path.replace("/repo/", "")])];
const width = (i) => Math.max(...table.map((row) => String(row[i]).length));
for (const [lines, bytes, file] of table) {
  text(String(lines).padStart(width(0)) + "  " + String(bytes).padStart(width(1)) + "  " + file);
}
return counted.reduce((n, f) => n + f.lines, 0) + " lines in the five largest Go files";
