package codemode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/policy"
)

// telescope keeps what a runner exports.
type telescope struct {
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	meter  *sdkmetric.MeterProvider
}

func newTelescope() *telescope {
	s, r := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	return &telescope{
		s, sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s)),
		r, sdkmetric.NewMeterProvider(sdkmetric.WithReader(r)),
	}
}

func (o *telescope) options() *Options { return &Options{Tracer: o.tracer, Meter: o.meter} }

// ended gives the spans that ended, one a line, in the order in which they did: name, parent, links, status, times and
// attributes.
func (o *telescope) ended() string {
	all := o.spans.Ended()
	names := map[trace.SpanID]string{}
	for _, s := range all {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s", s.Name())
		if s.Parent().IsValid() {
			fmt.Fprintf(&b, " < %s", names[s.Parent().SpanID()])
		}
		for _, l := range s.Links() {
			fmt.Fprintf(&b, " ~ %s", names[l.SpanContext.SpanID()])
		}
		if st := s.Status(); st.Code != 0 {
			fmt.Fprintf(&b, " %s(%s)", st.Code, st.Description)
		}
		fmt.Fprintf(&b, " %v", s.EndTime().Sub(s.StartTime()))
		for _, a := range sorted(s.Attributes()) {
			fmt.Fprintf(&b, " %s", a)
		}
		for _, e := range s.Events() {
			fmt.Fprintf(&b, " !%s", e.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sorted gives attributes without the prefix that all have.
func sorted(attrs []attribute.KeyValue) []string {
	var s []string
	for _, a := range attrs {
		s = append(s, strings.TrimPrefix(string(a.Key), "chela.")+"="+a.Value.String())
	}
	slices.Sort(s)
	return s
}

// measured gives the measurements, one a line: name, attributes, and the sum, of histograms with the count.
func (o *telescope) measured(t *testing.T) string {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := o.reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	var lines []string
	line := func(name string, set attribute.Set, value string) {
		lines = append(lines, strings.Join(append([]string{name, value}, sorted(set.ToSlice())...), " "))
	}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					line(m.Name, p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					line(m.Name, p.Attributes, fmt.Sprintf("%d/%d", p.Sum, p.Count))
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					line(m.Name, p.Attributes, fmt.Sprintf("%gs/%d", p.Sum, p.Count))
				}
			default:
				t.Errorf("%s has data of the kind %T", m.Name, d)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// A cell with two calls and a wait: the calls are children of the exec's span, also the one that outlives it, and the wait
// is linked to it.
func TestSpansAndMeasurementsOfACell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTelescope()
		e := &fakeEngine{snapshot: 70_000, legs: []leg{
			emits([]string{"before"}, `callValue#1 ["slow",{}]`, `callValue#2 ["quick",{}]`, `search#3 ["q"]`), calls(), calls(), ends("after"),
		}}
		r := NewRunner(e, o.options())
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{
			"quick": after(time.Second, "1"),
			"slow": func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
				_, span := o.tracer.Tracer("tool").Start(ctx, "tool's own")
				defer span.End()
				time.Sleep(25 * time.Second)
				return catalog.Result{Details: []byte("1")}, nil
			},
		})
		ctx, turn := o.tracer.Tracer("gateway").Start(t.Context(), "turn")
		res, err := r.Exec(ctx, s, "call-1", cell1)
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, Waiting, "", "")
		turn.End()
		same(t, "measured while suspended", o.measured(t), `
chela.call.duration 1s/1 call.outcome=finished tool.source=openclaw
chela.call.ended 1 call.outcome=finished tool.source=openclaw
chela.cell.duration 10s/1 cell.status=waiting operation=exec
chela.cell.snapshot_size 70000/1
chela.cell.suspended 1`)
		ctx, turn = o.tracer.Tracer("gateway").Start(t.Context(), "next turn")
		for res.Status == Waiting {
			if res, err = r.Wait(ctx, s, WaitArguments{RunID: res.RunID}); err != nil {
				t.Fatal(err)
			}
		}
		want(t, res, Completed, "", "")
		turn.End()
		same(t, "spans", o.ended(), `
chela.call < chela.exec 1s call.outcome=finished tool.id=openclaw:core:quick tool.source=openclaw
chela.exec < turn 10s cell.calls=2 cell.describes=0 cell.language=javascript cell.output_bytes=31 cell.output_items=1 cell.pending_calls=1 cell.reason=pending_tools cell.searches=1 cell.snapshot_bytes=70000 cell.status=waiting cell.ticks=3 cell.value_bytes=0
turn 10s
chela.wait < next turn ~ chela.exec 10s cell.calls=2 cell.describes=0 cell.language=javascript cell.output_bytes=0 cell.output_items=0 cell.pending_calls=1 cell.reason=pending_tools cell.searches=1 cell.status=waiting cell.ticks=3 cell.value_bytes=0
tool's own < chela.call 25s
chela.call < chela.exec 25s call.outcome=finished tool.id=openclaw:core:slow tool.source=openclaw
chela.wait < next turn ~ chela.exec 5s cell.calls=2 cell.describes=0 cell.language=javascript cell.output_bytes=30 cell.output_items=1 cell.searches=1 cell.status=completed cell.ticks=4 cell.value_bytes=10
next turn 15s`)
		same(t, "measured", o.measured(t), `
chela.call.duration 26s/2 call.outcome=finished tool.source=openclaw
chela.call.ended 2 call.outcome=finished tool.source=openclaw
chela.cell.duration 10s/1 cell.status=waiting operation=exec
chela.cell.duration 10s/1 cell.status=waiting operation=wait
chela.cell.duration 5s/1 cell.status=completed operation=wait
chela.cell.ended 1 cell.status=completed
chela.cell.snapshot_size 70000/1
chela.cell.suspended 0
chela.cell.ticks 4/1 cell.status=completed`)
		closed(t, r, e)
		if got := o.measured(t); strings.Contains(got, "suspended") {
			t.Errorf("a closed runner is still asked:\n%s", got)
		}
	})
}

// Failures are told by their codes, also those that tools make up.
func TestSpansOfFailures(t *testing.T) {
	const quiet = "cell.describes=0 cell.language=javascript cell.output_bytes=0 cell.output_items=0 cell.searches=0"
	for name, c := range map[string]struct {
		legs []leg
		args ExecArguments
		want string
	}{
		"syntax": {[]leg{ends()}, ExecArguments{Code: "return (", Language: TypeScript}, `
chela.exec Error(invalid_input) 0s cell.calls=0 cell.code=invalid_input cell.describes=0 cell.language=typescript cell.output_bytes=0 cell.output_items=0 cell.searches=0 cell.status=failed cell.ticks=0 cell.value_bytes=0`},
		"no language": {[]leg{ends()}, ExecArguments{Code: "return 1", Language: "klingon"}, `
chela.exec Error(invalid_input) 0s cell.calls=0 cell.code=invalid_input cell.describes=0 cell.output_bytes=0 cell.output_items=0 cell.searches=0 cell.status=failed cell.ticks=0 cell.value_bytes=0`},
		"time": {[]leg{func(ctx context.Context, _ string) (Report, error) {
			<-ctx.Done()
			return Report{}, ErrInterrupted
		}}, cell1, `
chela.exec Error(timeout) 10s cell.calls=0 cell.code=timeout ` + quiet + ` cell.status=failed cell.ticks=1 cell.value_bytes=0`},
		"denied": {[]leg{calls(`callValue#1 ["forbidden",{}]`), ends()}, cell1, `
chela.call < chela.exec Error(rule) 0s call.code=rule call.outcome=refused tool.id=openclaw:core:forbidden tool.source=openclaw
chela.exec 0s cell.calls=1 ` + quiet + ` cell.status=completed cell.ticks=2 cell.value_bytes=10`},
		"tool": {[]leg{calls(`callValue#1 ["coded",{}]`), ends()}, cell1, `
chela.call < chela.exec Error(tool_error) 0s call.code=tool_error call.outcome=failed tool.id=openclaw:core:coded tool.source=openclaw
chela.exec 0s cell.calls=1 ` + quiet + ` cell.status=completed cell.ticks=2 cell.value_bytes=10`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newTelescope()
				e := &fakeEngine{legs: c.legs}
				r := NewRunner(e, o.options())
				s := fakeScope(t, nil, map[string]catalog.RunnerFunc{
					"forbidden": value("1"),
					"coded": func(context.Context, catalog.Call) (catalog.Result, error) {
						return catalog.Result{}, &catalog.Error{Code: "user_42", Message: "no"}
					},
				})
				if _, err := r.Exec(t.Context(), s, "call-1", c.args); err != nil {
					t.Fatal(err)
				}
				same(t, "spans", o.ended(), c.want)
				closed(t, r, e)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		o := newTelescope()
		e := &fakeEngine{legs: []leg{ends()}}
		r := NewRunner(e, o.options())
		wait(t, r, fakeScope(t, nil, nil), "cm_unknown")
		same(t, "spans", o.ended(), `chela.wait Error(invalid_input) 0s cell.code=invalid_input cell.status=failed`)
		same(t, "measured", o.measured(t), `
chela.cell.duration 0s/1 cell.code=invalid_input cell.status=failed operation=wait
chela.cell.suspended 0`)
		closed(t, r, e)
	})
}

// A call that is aborted ends then, also when its tool does not listen.
func TestSpanOfAnAbortedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTelescope()
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["deaf",{}]`), ends()}}
		r := NewRunner(e, o.options())
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"deaf": func(context.Context, catalog.Call) (catalog.Result, error) {
			time.Sleep(time.Hour)
			return catalog.Result{Details: []byte("1")}, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		res, err := r.Exec(ctx, s, "call-1", cell1)
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, Failed, CodeAborted, "aborted")
		synctest.Wait()
		spans := strings.Split(strings.TrimSpace(o.ended()), "\n")
		slices.Sort(spans)
		wantSpans := `
chela.call < chela.exec Error(aborted) 1s call.code=aborted call.outcome=unknown tool.id=openclaw:core:deaf tool.source=openclaw
chela.exec Error(aborted) 1s cell.calls=1 cell.code=aborted cell.describes=0 cell.language=javascript cell.output_bytes=0 cell.output_items=0 cell.searches=0 cell.status=failed cell.ticks=1 cell.value_bytes=0`
		same(t, "spans", strings.Join(spans, "\n"), wantSpans)
		time.Sleep(2 * time.Hour)
		same(t, "measured", o.measured(t), `
chela.call.duration 1s/1 call.outcome=unknown tool.source=openclaw
chela.call.ended 1 call.outcome=unknown tool.source=openclaw
chela.cell.duration 1s/1 cell.code=aborted cell.status=failed operation=exec
chela.cell.ended 1 cell.code=aborted cell.status=failed
chela.cell.suspended 0
chela.cell.ticks 1/1 cell.status=failed`)
		closed(t, r, e)
	})
}

// The time that a person takes to approve is in the span and not in the measurement, and a cell that is dropped
// meanwhile is counted.
func TestSpanOfAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTelescope()
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["pay",{}]`), ends()}}
		r := NewRunner(e, o.options())
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"pay": after(time.Second, "1")})
		approvals := policy.NewApprovals(nil)
		gate, err := policy.New(&policy.Options{Approvals: approvals, Hooks: []policy.Hook{{
			Name: "ask",
			Before: func(_ context.Context, c policy.Call) (policy.Verdict, error) {
				if c.Kind == policy.KindCodeModeExec {
					return policy.Verdict{}, nil
				}
				return policy.Verdict{Action: policy.Ask}, nil
			},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		so := s.ScopeOptions
		so.Gate = gate
		s = NewScope(so)
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		time.Sleep(4 * time.Minute)
		if err := approvals.Answer(approvals.List()[0].ID, policy.Answer{Allow: true}); err != nil {
			t.Fatal(err)
		}
		want(t, wait(t, r, s, res.RunID), Completed, "", "")
		if got := o.ended(); !strings.Contains(got, "chela.call < chela.exec 4m1s call.outcome=finished tool.id=openclaw:core:pay tool.source=openclaw !chela.approval.asked !chela.approval.answered\n") {
			t.Errorf("spans:\n%s", got)
		}
		if got := o.measured(t); !strings.Contains(got, "chela.call.duration 1s/1 ") {
			t.Errorf("measured:\n%s", got)
		}
		want(t, exec(t, r, s), Waiting, "", "")
		r.EndSession("session")
		synctest.Wait()
		got := o.measured(t)
		for _, line := range []string{"chela.cell.ended 1 cell.status=dropped\n", "chela.cell.ticks 1/1 cell.status=dropped\n", "chela.call.ended 1 call.outcome=never_started"} {
			if !strings.Contains(got, line) {
				t.Errorf("no %q in\n%s", line, got)
			}
		}
		closed(t, r, e)
	})
}

// A hook that withholds the result of a suspended cell ends the cell: nobody has its id.
func TestAWithheldCellIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTelescope()
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, o.options())
		gate, err := policy.New(&policy.Options{Hooks: []policy.Hook{{
			Name: "fails",
			After: func(_ context.Context, _ policy.Call, o policy.Outcome) (policy.Outcome, error) {
				return o, errors.New("no")
			},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		so := fakeScope(t, nil, nil).ScopeOptions
		so.Gate = gate
		want(t, exec(t, r, NewScope(so)), Failed, CodeInternalError, "")
		if n := r.Suspended(); n != 0 {
			t.Errorf("%d suspended", n)
		}
		closed(t, r, e)
		if got := o.measured(t); strings.Count(got, "chela.cell.ended") != 1 {
			t.Errorf("measured:\n%s", got)
		}
	})
}

// Either provider can be missing. Without a tracer the caller's span stays the current one.
func TestOneProviderAlone(t *testing.T) {
	for name, opts := range map[string]func(o *telescope) *Options{
		"tracer": func(o *telescope) *Options { return &Options{Tracer: o.tracer} },
		"meter":  func(o *telescope) *Options { return &Options{Meter: o.meter} },
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newTelescope()
			e := &fakeEngine{legs: []leg{calls(`callValue#1 ["tool",{}]`), ends()}}
			r := NewRunner(e, opts(o))
			ctx, turn := o.tracer.Tracer("gateway").Start(t.Context(), "turn")
			var seen trace.Span
			s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"tool": func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
				seen = trace.SpanFromContext(ctx)
				return catalog.Result{Details: []byte("1")}, nil
			}})
			if _, err := r.Exec(ctx, s, "call-1", cell1); err != nil {
				t.Fatal(err)
			}
			if spans, lines := strings.Count(o.ended(), "chela."), strings.Count(o.measured(t), "chela."); (name == "tracer") != (spans > 0) || (name == "meter") != (lines > 0) {
				t.Errorf("%s: %d mentions in spans, %d in measurements", name, spans, lines)
			}
			if (seen == turn) != (name == "meter") {
				t.Errorf("%s: the tool's span is %v", name, seen.SpanContext())
			}
			closed(t, r, e)
		})
	}
}

// refuser is a meter that cannot make one of the instruments.
type refuser struct {
	embedded.MeterProvider
	noMeter
}

type noMeter = metricnoop.Meter

func (r refuser) Meter(string, ...metric.MeterOption) metric.Meter { return r }
func (refuser) Int64Histogram(string, ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, errors.New("no histograms today")
}

func TestAMeterThatRefusesIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := newTelescope()
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Tracer: o.tracer, Meter: refuser{}})
		s := fakeScope(t, nil, nil)
		want(t, wait(t, r, s, exec(t, r, s).RunID), Completed, "", "")
		closed(t, r, e)
		if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "no histograms today") {
			t.Errorf("log: %s", log.String())
		}
		if n := strings.Count(o.ended(), "\n"); n != 2 {
			t.Errorf("%d spans", n)
		}
	})
}

// An engine's failures can have any code.
func TestCodesAreBounded(t *testing.T) {
	if got := resultCode("user-42"); got != string(CodeInternalError) {
		t.Error(got)
	}
	for want, err := range map[string]error{
		catalog.CodeToolError:     &catalog.Error{Code: "user-42"},
		catalog.CodeInputContract: &catalog.Error{Code: catalog.CodeInputContract},
		catalog.CodeDenied:        &policy.Denied{Code: "user-42"},
		policy.DeniedByHook:       &policy.Denied{Code: policy.DeniedByHook},
	} {
		if got := callCode(t.Context(), err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	var names []string
	for o := NeverStarted; o <= Refused; o++ {
		names = append(names, outcomeName(o))
	}
	if got := fmt.Sprint(names); got != "[never_started unknown finished failed refused]" {
		t.Error(got)
	}
}

// Without providers, observing allocates nothing, and a cell no more than one of a runner that was given no options.
func TestNoProvidersCostNothing(t *testing.T) {
	var o *observer
	s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"tool": value("1")})
	c, entry, res, ctx := &cell{scope: s}, s.Catalog.Entries()[0], &Result{Status: Completed}, t.Context()
	hooks := testing.AllocsPerRun(100, func() {
		ctx, l := o.exec(ctx, c, JavaScript)
		l.suspended(nil)
		inner, k := o.call(ctx, entry)
		k.asked()
		k.answered()
		k.end(inner, Finished, nil)
		l.end(ctx, res)
		_, l = o.wait(ctx, c)
		l.end(ctx, res)
		o.drop(c)
	})
	if hooks != 0 {
		t.Errorf("observing nothing allocates %v times", hooks)
	}
	cost := func(opts *Options) float64 {
		r := NewRunner(&fakeEngine{legs: []leg{calls(`search#1 ["x"]`), ends()}}, opts)
		return testing.AllocsPerRun(200, func() {
			if res, err := r.Exec(ctx, s, "call-1", cell1); err != nil || res.Status != Completed {
				t.Fatal(err, res)
			}
		})
	}
	scope := newTelescope()
	none, nils, both := cost(nil), cost(&Options{}), cost(scope.options())
	t.Logf("allocations of a cell: %v without options, %v without providers, %v with both", none, nils, both)
	if nils != none || both <= none {
		t.Errorf("allocations of a cell: %v without options, %v without providers, %v with both", none, nils, both)
	}
}
