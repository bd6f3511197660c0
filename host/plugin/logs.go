package plugin

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"unicode"
)

// levelTrace is Extism's level below debug.
const levelTrace = slog.LevelDebug - 4

// Bounds on what is kept of a guest's output besides the limits of a call.
const (
	maxLine = 4 << 10 // bytes of one line; the rest of it is dropped
	maxTail = 2 << 10 // bytes of standard error put into an error
)

// logs takes what a guest writes during one call to the plugin's logger, within the plugin's limits.
type logs struct {
	ctx            context.Context // of the call, for the logger
	logger         *slog.Logger
	plugin, tool   string
	bytes          int64 // still allowed
	lines          int   // still allowed
	dropped        int   // lines
	stdout, stderr []byte
	tail           tail
}

func newLogs(ctx context.Context, p *Plugin, tool string) *logs {
	return &logs{ctx: ctx, logger: p.logger, plugin: p.ID(), tool: tool, bytes: p.limits.LogBytes, lines: p.limits.LogLines}
}

// write takes bytes of standard output or error and logs the lines they complete.
func (l *logs) write(stderr bool, b []byte) {
	partial, level, stream := &l.stdout, slog.LevelInfo, "stdout"
	if stderr {
		partial, level, stream = &l.stderr, slog.LevelWarn, "stderr"
		l.tail.write(b)
	}
	for len(b) > 0 {
		if l.lines <= 0 || l.bytes <= 0 { // no look at what is dropped anyway
			l.dropped += bytes.Count(b, []byte("\n"))
			return
		}
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		*partial = append(*partial, line[:min(len(line), maxLine-min(maxLine, len(*partial)))]...)
		if whole {
			l.line(level, stream, *partial)
			*partial = (*partial)[:0]
		}
		b = rest
	}
}

// line logs one line or message.
func (l *logs) line(level slog.Level, stream string, text []byte) {
	text = bytes.TrimRight(text, "\r\n")
	if l.lines <= 0 || l.bytes < int64(len(text)) {
		l.dropped++
		l.lines = 0
		return
	}
	l.lines--
	l.bytes -= int64(len(text))
	if l.logger.Enabled(l.ctx, level) {
		l.logger.LogAttrs(l.ctx, level, "plugin output", slog.String("plugin", l.plugin), slog.String("tool", l.tool),
			slog.String("stream", stream), slog.String("text", visible(text)))
	}
}

// end logs what was not ended by a newline, and how much was dropped.
func (l *logs) end() {
	if len(l.stdout) > 0 {
		l.line(slog.LevelInfo, "stdout", l.stdout)
	}
	if len(l.stderr) > 0 {
		l.line(slog.LevelWarn, "stderr", l.stderr)
	}
	if l.dropped > 0 {
		l.logger.LogAttrs(l.ctx, slog.LevelWarn, "plugin output dropped: the limit of one call is reached",
			slog.String("plugin", l.plugin), slog.String("tool", l.tool), slog.Int("lines", l.dropped))
	}
	l.stdout, l.stderr, l.dropped = l.stdout[:0], l.stderr[:0], 0
}

// extismLevel tells the guest which messages are of use, as Extism numbers levels.
func (l *logs) extismLevel() int32 {
	if l.lines > 0 {
		for i, level := range []slog.Level{levelTrace, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			if l.logger.Enabled(l.ctx, level) {
				return int32(i)
			}
		}
	}
	return math.MaxInt32
}

// log serves the log functions: the message is in a block, which the host frees.
func (c *call) log(level slog.Level, handle uint64) {
	c.spend(0)
	n := c.blocks.length(handle)
	if c.logs.lines > 0 {
		c.logs.line(level, "log", c.copied(handle, min(n, maxLine)))
	} else {
		c.logs.dropped++
	}
	c.blocks.free(handle)
}

// tail keeps the end of standard error, for the error of a guest that ended badly. What a panic prints first says more
// than the stack trace after it, so from a line that looks like one the beginning is kept instead.
type tail struct {
	kept   []byte
	pinned bool
}

var panicMarks = [][]byte{[]byte("panic: "), []byte("fatal error: "), []byte("thread '"), []byte("thread \"")}

func (t *tail) write(b []byte) {
	if !t.pinned {
		if len(b) > 2*maxTail {
			b = b[len(b)-2*maxTail:]
		}
		t.kept = append(t.kept, b...)
		for _, mark := range panicMarks {
			if i := bytes.LastIndex(t.kept, mark); i >= 0 && (i == 0 || t.kept[i-1] == '\n') {
				t.kept, t.pinned = t.kept[i:], true
			}
		}
		if over := len(t.kept) - maxTail; over > 0 && !t.pinned {
			t.kept = append(t.kept[:0], t.kept[over:]...)
		}
		return
	}
	t.kept = append(t.kept, b[:min(len(b), maxTail-min(maxTail, len(t.kept)))]...)
}

func (t *tail) text() string {
	return strings.TrimSpace(visible(t.kept[:min(len(t.kept), maxTail)]))
}

// visible gives text that is safe to show: UTF-8 without control characters, but with its lines and tabs.
func visible(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
}

// printable drops a rune that is a control or formatting character.
func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}
