package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chelahost/chela/internal/testguests"
)

// BenchmarkProcess measures what somebody at a terminal waits for: a process that starts, loads a plugin and prints the
// result of a program, with compiled modules in the cache.
func BenchmarkProcess(b *testing.B) {
	chela, err := exec.LookPath("chela") // this binary, under the name TestMain gave it
	if err != nil {
		b.Fatal(err)
	}
	cache := b.TempDir()
	if err := os.Chmod(cache, 0o700); err != nil {
		b.Fatal(err)
	}
	echo := testguests.Dir(b, "testplugins/echo")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"return", []string{"exec", "-e", "return 1+1"}},
		{"plugin", []string{"exec", "--plugin", echo, "-e", "return (await tools.echo({v: 2})).v"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			run := func() {
				cmd := exec.Command(chela, c.args...)
				cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
				out, err := cmd.Output()
				if err != nil || strings.TrimSpace(string(out)) != "2" {
					b.Fatalf("%s, %v", out, err)
				}
			}
			run()
			for b.Loop() {
				run()
			}
		})
	}
}
