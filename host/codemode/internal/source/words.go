package source

// isCommand reports whether name is a command that a model is known to send instead of a program.
func isCommand(name string) bool {
	switch name {
	case "alias", "apt", "awk", "bash", "bg", "brew", "builtin", "bun", "cargo", "cat", "cd", "chmod", "cmd", "command",
		"cp", "curl", "cut", "date", "declare", "df", "dir", "docker", "dotnet", "du", "echo", "env", "exec", "exit",
		"export", "fg", "file", "find", "getopts", "git", "go", "gradle", "grep", "hash", "head", "help", "hostname",
		"id", "java", "javac", "jobs", "jq", "kill", "kubectl", "ln", "local", "logout", "ls", "make", "mkdir", "mvn",
		"mv", "node", "npm", "npx", "perl", "php", "pip", "pip3", "pnpm", "poetry", "popd", "powershell", "printf",
		"ps", "pushd", "pwd", "pwsh", "pytest", "python", "python3", "read", "readonly", "rg", "rm", "ruby", "rustc",
		"rustup", "sed", "set", "sh", "shift", "sleep", "sort", "source", "stat", "sudo", "swift", "systemctl", "tail",
		"tar", "tee", "test", "touch", "trap", "tree", "type", "ulimit", "umask", "uname", "uniq", "unset", "unzip",
		"uv", "uvx", "vitest", "wait", "wc", "wget", "which", "whoami", "xargs", "yarn", "zip", "zsh":
		return true
	}
	return false
}

// isProgramWord reports whether name is a keyword of JavaScript or TypeScript, or a global that every cell has: a text
// that starts with it is taken for a program.
func isProgramWord(name string) bool {
	switch name {
	// Keywords, and words with a meaning of their own at the start of a statement.
	case "abstract", "accessor", "as", "asserts", "async", "await", "break", "case", "catch", "class", "const",
		"continue", "debugger", "default", "delete", "do", "else", "enum", "extends", "false", "finally", "for",
		"from", "function", "get", "if", "implements", "import", "in", "infer", "instanceof", "interface", "is",
		"keyof", "let", "module", "namespace", "new", "null", "of", "override", "package", "private", "protected",
		"public", "return", "satisfies", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
		"unique", "using", "var", "void", "while", "with", "yield":
		return true
	// What the language has built in.
	case "AggregateError", "Array", "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean",
		"DataView", "Date", "Error", "EvalError", "FinalizationRegistry", "Float16Array", "Float32Array",
		"Float64Array", "Function", "Infinity", "Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON",
		"Map", "Math", "NaN", "Number", "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect",
		"RegExp", "Set", "SharedArrayBuffer", "String", "Symbol", "SyntaxError", "TypeError", "URIError",
		"Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet",
		"decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "globalThis",
		"isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape":
		return true
	// What code mode puts there.
	case "ALL_TOOLS", "API", "MCP", "agents", "clearTimeout", "console", "json", "log", "namespaces", "phase",
		"setTimeout", "text", "tools", "yield_control":
		return true
	}
	return false
}
