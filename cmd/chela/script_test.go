package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chelahost/chela/internal/testguests"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"chela": main})
}

// The scripts say what the commands do, and are their documentation by example. UPDATE=1 rewrites what they compare with.
func TestScripts(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir() // warm: to compile the engine takes longer than everything else
	if err != nil {
		t.Fatal(err)
	}
	guests := map[string]string{
		"ECHO":      testguests.Dir(t, "testplugins/echo"),
		"MISBEHAVE": testguests.Dir(t, "testplugins/misbehave"),
		"FILES":     testguests.Dir(t, "plugins/files"),
		"RAW":       testguests.Dir(t, "testplugins/raw"),
	}
	dir := filepath.Join("testdata", "script")
	var only []string // all
	if raceDetector {
		// Those in which something goes on at the same time; the rest would tell nothing new.
		for _, name := range []string{"exec_plugins", "exec_interrupt", "exec_waiting"} {
			only = append(only, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               only,
		UpdateScripts:       os.Getenv("UPDATE") == "1",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", home)
			env.Setenv("XDG_CACHE_HOME", cache)
			for name, dir := range guests {
				env.Setenv(name, dir)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    status,
			"object":    object,
			"interrupt": interrupt,
		},
	})
}

// status runs a command that must exit with a status: status 3 chela exec ...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	if got := statusOf(ts, err); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func statusOf(ts *testscript.TestScript, err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	ts.Fatalf("the command did not run: %v", err)
	return 0
}

// object checks that a file is exactly one JSON object in one line, and values in it: object stdout status '"failed"' output.0.text '"a"'.
func object(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 == 0 {
		ts.Fatalf("usage: object file [path json]...")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}\n") {
		ts.Fatalf("%s is not one JSON object in one line:\n%s", args[0], text)
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		ts.Fatalf("%s: %v:\n%s", args[0], err, text)
	}
	for i := 1; i < len(args); i += 2 {
		var want any
		ts.Check(json.Unmarshal([]byte(args[i+1]), &want))
		got := doc
		for _, key := range strings.Split(args[i], ".") {
			switch v := got.(type) {
			case map[string]any:
				got = v[key]
			case []any:
				n, err := strconv.Atoi(key)
				if err != nil || n >= len(v) {
					ts.Fatalf("%s: there is no %s in %v", args[i], key, v)
				}
				got = v[n]
			default:
				ts.Fatalf("%s: there is no %s in %v", args[i], key, v)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			ts.Fatalf("%s (-want +got):\n%s", args[i], d)
		}
	}
}

// interrupt starts a command, interrupts it as soon as its standard error has a text, and checks its exit status:
// interrupt 3 'text' chela exec ... It leaves what the command wrote in the files out and err.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt N text command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "XDG_CACHE_HOME="+ts.Getenv("XDG_CACHE_HOME"))
	var out bytes.Buffer
	stderr := &watched{text: args[1], seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &out, stderr
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // ended already, unless the test failed
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-stderr.seen:
		ts.Check(cmd.Process.Signal(os.Interrupt))
	case err := <-done:
		ts.Fatalf("it ended before it wrote %q: %v\n%s%s", args[1], err, out.String(), stderr.String())
	case <-time.After(time.Minute):
		ts.Fatalf("it has not written %q", args[1])
	}
	select {
	case err = <-done:
	case <-time.After(20 * time.Second):
		ts.Fatalf("it goes on after it was interrupted")
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err"), []byte(stderr.String()), 0o644))
	if got := statusOf(ts, err); got != want {
		ts.Fatalf("exit status %d, want %d\n%s%s", got, want, out.String(), stderr.String())
	}
}

// watched keeps what is written and says when it has a text.
type watched struct {
	mu   sync.Mutex
	b    bytes.Buffer
	text string
	seen chan struct{}
	once sync.Once
}

var _ io.Writer = (*watched)(nil)

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if bytes.Contains(w.b.Bytes(), []byte(w.text)) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
