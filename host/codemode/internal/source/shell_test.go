package source

import (
	"strings"
	"testing"
)

func TestShellIsRefused(t *testing.T) {
	for step, texts := range map[string][]string{
		"1 hashbang":    {"#!/bin/bash\nls", "#!/usr/bin/env python3\nprint(1)", "#!/bin/sh -e\nreturn 1"},
		"2 comments":    {"# list files\nls -la", "// list\nls -la", "/* a */ # b\n\n  ls", "# only\n# then\npwd", "   \n\tpwd\n"},
		"3 control":     {"if [ -f x ]; then echo y; fi", "if [[ -n $x ]]; then true; fi", "if test -f x; then rm x; fi", "while read line; do echo $line; done", "until ping -c1 x; do sleep 1; done", "for f in *.go; do wc -l $f; done", "for ((i=0;i<3;i++)); do echo $i; done", "for ((i=0;i<3;i++)) do echo $i; done", "case $1 in a) echo;; esac", "case \"$x\" in\n*) ;;\nesac", "function deploy { echo hi; }", "if grep -q x y; then echo; fi", "elif [ 1 ]"},
		"4 environment": {"FOO=bar ls -la", "A=1 B='x y' C=\"z \\\" q\" npm test", "NODE_ENV=test\nnpm run x", "X=a\\ b pwd", "FOO=bar\nBAZ=qux ./run.sh"},
		"5 known":       {"/bin/ls -la", "/usr/bin/env node x.js", "/usr/local/bin/python3 -V", "git status", "npm install", "cat <<EOF\nx\nEOF", "echo hello world", "curl https://example.com", "docker ps", "cd src && ls", "grep -rn foo .", "python3 script.py", "node index.js"},
		"6 path":        {"./run.sh --fast", "../bin/tool", "~/bin/x y z", "/opt/tool/run now", "./a.sh; ./b.sh", "C:\\tools\\x.exe /q", "./build.sh && ./test.sh", "./my\\ tool x"},
		"7 alone":       {"pwd", "ls", "whoami", "  date  ", "git", "exit"},
		"8 invalid":     {"terraform plan", "ls docs", "make build test", "foo bar", "my-tool run build", "kubectl get pods", "rails server now", "brew install jq"},
		"10 separators": {"pwd; ls", "ls\npwd", "ls | wc", "date && pwd", "wait & pwd", "ls || true", "sort;"},
		"11 arguments":  {"ls -la", "rm --force", "ls -l", "foo --bar", "mytool -x", "cat /etc/passwd", "ls ./x", "head -5", "cat < x", "sort > y", "ls 2> z", "echo >> log", "jq .a", "foo /bar", "cat ~/x"},
	} {
		for _, text := range texts {
			for _, lang := range []Language{JavaScript, TypeScript} {
				if _, err := run(t, text, lang); err == nil || !strings.HasPrefix(err.Error(), shellMessage) {
					t.Errorf("step %s: %s %q: %v", step, lang, text, err)
				}
			}
		}
	}
}

func TestProgramsThatLookLikeShell(t *testing.T) {
	for step, texts := range map[string][]string{
		"1 a hashbang of JavaScript":  {"#!/usr/bin/env node\nreturn 1", "#!/usr/bin/node\nreturn 1"},
		"2 nothing":                   {"// ls -la", "/* pwd */"},
		"3 control with parentheses":  {"if (test) { x }", "while (x) break", "for (const x in y) {}", "for (const x of y) {}", "function ls() {}\nreturn ls()", "switch (x) { case 1: in_ }"},
		"4 assignments":               {"x=1\nreturn x", "FOO='ls -la'\nreturn FOO", "a=b", "x=1;ls=2"},
		"5 calls and members":         {"ls()", "date.getTime()", "find(x)", "sort`x`", "git.status()", "text(1)", "tools -1", "return -1", "await x", "json\n(1)", "undefined", "Math.max(1)", "this", "new Date()", "ALL_TOOLS.length", "$x -y", "let x = 1"},
		"6 regular expressions":       {"/a b/.test(x)", "/ls/g\nreturn 1", "x: /re/.test(y)"},
		"7 a name alone":              {"myValue", "my_value", "x;", "foo"},
		"9 a binding of its own":      {"test > 5 && foo()\nvar test = 6", "date -x\nfunction date() {}", "sort;\nvar sort = 1", "ls | pwd\nvar ls, pwd", "foo -x\nvar foo"},
		"10 separators of JavaScript": {"foo; bar()", "x | y", "x && y()", "foo\nbar()", "x || y", "a & b"},
		"11 operators":                {"x = 5", "date = new Date()\nreturn date", "sort = (a, b) => a - b", "total - 1", "total -1", "x / y", "count < 5", "id === 3", "file ? 1 : 2", "type = 'x'", "which in x", "head instanceof Y", "source.x", "rows > 3", "set * 2", "a - b", "result = await tools.call('x')"},
	} {
		for _, text := range texts {
			if _, err := run(t, text, JavaScript); err != nil {
				t.Errorf("step %s: %q: %v", step, text, err)
			}
		}
	}
	for _, text := range []string{"type Foo = {a: string}\nreturn 1", "type A = 1; type B = 2", "declare const x: number; return 1", "export_ = 1", "abstract class A {}"} {
		if _, err := run(t, text, TypeScript); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What only looks like an unknown command is told where it does not parse as well; it may have been meant as code.
func TestShellMessageWithPosition(t *testing.T) {
	for text, want := range map[string]string{
		"result = await f(;":    "If it was meant as code: SyntaxError at user.js:1:18: ",
		"foo bar":               "If it was meant as code: SyntaxError at user.js:1:5: ",
		"sort = rows.sort(;":    "If it was meant as code: SyntaxError at user.js:1:18: ",
		"type A = {b: string}":  `SyntaxError at user.js:1:6: Expected ";" but found "A". This is TypeScript: set "language" to "typescript"`,
		"ls docs":               "Do not retry the same shell command as code.",
		"export const x = 1":    "SyntaxError at user.js:1:1: ",
		"export FOO=bar && pwd": "not shell commands",
	} {
		if _, err := run(t, text, JavaScript); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
