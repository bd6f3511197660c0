package codemode

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/policy"
)

// What is exported names and counts, and never quotes: programs, inputs, results, output and the text of errors may hold
// what belongs to a user. Only what has few values is an attribute of a measurement; spans have the tool's id beside it.
const (
	keyOperation = attribute.Key("chela.operation") // exec or wait
	keyStatus    = attribute.Key("chela.cell.status")
	keyCode      = attribute.Key("chela.cell.code")
	keyReason    = attribute.Key("chela.cell.reason")
	keyLanguage  = attribute.Key("chela.cell.language")
	keyTicks     = attribute.Key("chela.cell.ticks")
	keyItems     = attribute.Key("chela.cell.output_items")
	keyBytes     = attribute.Key("chela.cell.output_bytes")
	keyValue     = attribute.Key("chela.cell.value_bytes")
	keyCalls     = attribute.Key("chela.cell.calls")
	keySearches  = attribute.Key("chela.cell.searches")
	keyDescribes = attribute.Key("chela.cell.describes")
	keyPending   = attribute.Key("chela.cell.pending_calls")
	keySnapshot  = attribute.Key("chela.cell.snapshot_bytes")
	keyTool      = attribute.Key("chela.tool.id")
	keySource    = attribute.Key("chela.tool.source")
	keyOutcome   = attribute.Key("chela.call.outcome")
	keyCallCode  = attribute.Key("chela.call.code")
)

// dropped is the status of a suspended cell that expired, or whose session or runner ended: no result tells of it.
const dropped = "dropped"

// An observer tells OpenTelemetry what cells do. A nil one does nothing and costs nothing, and neither do the spans
// that it gives, which are nil too.
type observer struct {
	tracer trace.Tracer // nil for no spans

	cells, calls      metric.Int64Counter
	legTime, callTime metric.Float64Histogram
	ticks, snapshots  metric.Int64Histogram
	suspended         metric.Int64ObservableUpDownCounter
	registration      metric.Registration
}

// newObserver gives an observer, or nil if there is nobody to tell. A provider whose instruments cannot be made is logged
// and left out: cells run without.
func newObserver(opts *Options, suspended func() int) *observer {
	if opts.Tracer == nil && opts.Meter == nil {
		return nil
	}
	const scope = "github.com/chelahost/chela/host/codemode"
	var meter metric.Meter = metricnoop.Meter{}
	if opts.Meter != nil {
		meter = opts.Meter.Meter(scope)
	}
	o, err := instrument(meter, suspended)
	if err != nil {
		opts.Logger.Error("cells are not measured: the meter refused an instrument", slog.Any("error", err))
		o, _ = instrument(metricnoop.Meter{}, suspended) // never fails
	}
	if opts.Tracer != nil {
		o.tracer = opts.Tracer.Tracer(scope)
	}
	return o
}

func instrument(m metric.Meter, suspended func() int) (*observer, error) {
	seconds := metric.WithExplicitBucketBoundaries(.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60)
	o := new(observer)
	errs := make([]error, 8)
	o.cells, errs[0] = m.Int64Counter("chela.cell.ended", metric.WithUnit("{cell}"),
		metric.WithDescription("Cells that ended: completed, failed, or dropped while suspended."))
	o.calls, errs[1] = m.Int64Counter("chela.call.ended", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of tools that ended, also those that were not let through."))
	o.legTime, errs[2] = m.Float64Histogram("chela.cell.duration", metric.WithUnit("s"), seconds,
		metric.WithDescription("Time that an exec or a wait took."))
	o.callTime, errs[3] = m.Float64Histogram("chela.call.duration", metric.WithUnit("s"), seconds,
		metric.WithDescription("Time that the call of a tool took, without the wait for an approval."))
	o.ticks, errs[4] = m.Int64Histogram("chela.cell.ticks", metric.WithUnit("{tick}"),
		metric.WithExplicitBucketBoundaries(1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
		metric.WithDescription("CPU time of a cell that ended, in ticks of some 50 microseconds."))
	o.snapshots, errs[5] = m.Int64Histogram("chela.cell.snapshot_size", metric.WithUnit("By"),
		metric.WithExplicitBucketBoundaries(1<<14, 1<<16, 1<<17, 1<<18, 1<<19, 1<<20, 1<<21, 1<<22, 1<<23, 1<<24, 1<<26, 1<<28),
		metric.WithDescription("Size of the heap of a cell that was suspended."))
	// An up-down counter and not a gauge: those of several hosts with one provider add up.
	o.suspended, errs[6] = m.Int64ObservableUpDownCounter("chela.cell.suspended", metric.WithUnit("{cell}"),
		metric.WithDescription("Cells that are suspended now."))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	o.registration, errs[7] = m.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		to.ObserveInt64(o.suspended, int64(suspended()))
		return nil
	}, o.suspended)
	return o, errs[7]
}

// close ends what is asked of the runner from outside. It is idempotent.
func (o *observer) close() error {
	if o == nil {
		return nil
	}
	return o.registration.Unregister()
}

// start starts a span. Without a tracer the caller's span stays the current one.
func (o *observer) start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	if o.tracer == nil {
		return ctx, tracenoop.Span{}
	}
	return o.tracer.Start(ctx, name, opts...)
}

// A legSpan is the span of one exec or wait.
type legSpan struct {
	observer  *observer
	operation string
	language  Language // that an exec asked for
	cell      *cell    // nil for a wait that has none
	span      trace.Span
	began     time.Time
	origin    trace.SpanContext // of the cell's exec
	parked    bool
	snapshot  int // bytes, if parked
}

// exec starts the span of a cell. The context it gives is the one for the calls: theirs are children of the exec's span,
// also of those that a wait starts.
func (o *observer) exec(ctx context.Context, c *cell, language Language) (context.Context, *legSpan) {
	if o == nil {
		return ctx, nil
	}
	ctx, span := o.start(ctx, "chela.exec")
	c.leg = &legSpan{observer: o, operation: "exec", language: language, cell: c, span: span, began: time.Now(), origin: span.SpanContext()}
	return ctx, c.leg
}

// wait starts the span of a wait, with a link to the exec's. c is nil if the wait was refused.
func (o *observer) wait(ctx context.Context, c *cell) (context.Context, *legSpan) {
	if o == nil {
		return ctx, nil
	}
	l := &legSpan{observer: o, operation: "wait", cell: c, began: time.Now()}
	var opts []trace.SpanStartOption
	if c != nil {
		if l.origin = c.leg.origin; l.origin.IsValid() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: l.origin}))
		}
		c.leg = l
	}
	ctx, l.span = o.start(ctx, "chela.wait", opts...)
	return ctx, l
}

// suspended notes that the cell was put away.
func (l *legSpan) suspended(s Snapshot) {
	if l != nil {
		l.parked, l.snapshot = true, s.Bytes()
	}
}

// resumed notes that the cell did not stay away.
func (l *legSpan) resumed() {
	if l != nil {
		l.parked = false
	}
}

// end ends the span with the result of its exec or wait, and gives the result back. A cell that is suspended may be
// another goroutine's by now, and is not looked at but for its program.
func (l *legSpan) end(ctx context.Context, res *Result) *Result {
	if l == nil {
		return res
	}
	o := l.observer
	class := []attribute.KeyValue{keyStatus.String(string(res.Status))}
	if res.Status == Failed {
		code := resultCode(res.Code)
		class = append(class, keyCode.String(code))
		l.span.SetStatus(codes.Error, code)
	}
	if l.cell != nil && res.Status != Waiting && !l.parked { // a hook can withhold that a cell is suspended
		o.cells.Add(ctx, 1, metric.WithAttributes(class...))
		o.ticks.Record(ctx, int64(res.Telemetry.CPUTicks), metric.WithAttributes(class[0]))
	}
	if l.parked {
		o.snapshots.Record(ctx, int64(l.snapshot))
	}
	if l.span.IsRecording() {
		l.span.SetAttributes(class...)
		if l.cell != nil {
			l.span.SetAttributes(l.account(res)...)
		}
	}
	o.legTime.Record(ctx, time.Since(l.began).Seconds(), metric.WithAttributes(append(class, keyOperation.String(l.operation))...))
	l.span.End()
	return res
}

// account counts what a result has and what its cell has done so far.
func (l *legSpan) account(res *Result) []attribute.KeyValue {
	bytes := 0
	for _, item := range res.Output {
		bytes += len(item)
	}
	t := &res.Telemetry
	a := []attribute.KeyValue{
		keyTicks.Int64(int64(t.CPUTicks)), keyItems.Int(len(res.Output)), keyBytes.Int(bytes), keyValue.Int(len(res.Value)),
		keyCalls.Int(t.CallCount), keySearches.Int(t.SearchCount), keyDescribes.Int(t.DescribeCount),
	}
	language := l.language
	if p := l.cell.prog; p != nil {
		language = p.Language // a code fence can say what it holds
	}
	switch language {
	case "", JavaScript:
		a = append(a, keyLanguage.String(string(JavaScript)))
	case TypeScript:
		a = append(a, keyLanguage.String(string(TypeScript)))
	}
	if res.Status == Waiting {
		a = append(a, keyReason.String(string(res.Reason)), keyPending.Int(len(res.PendingToolCalls)))
	}
	if l.parked {
		a = append(a, keySnapshot.Int(l.snapshot))
	}
	return a
}

// drop counts a suspended cell that will not be resumed.
func (o *observer) drop(c *cell) {
	if o == nil {
		return
	}
	status := metric.WithAttributes(keyStatus.String(dropped))
	o.cells.Add(context.Background(), 1, status)
	o.ticks.Record(context.Background(), int64(c.ticks), status)
}

// A callSpan is the span of one call of a tool.
type callSpan struct {
	observer *observer
	span     trace.Span
	source   catalog.Source
	began    time.Time
	question time.Time     // when a person was asked to approve
	waited   time.Duration // for the answer
	ended    atomic.Bool
}

// call starts the span of a call. The tool gets the context it gives: spans of its own become children.
func (o *observer) call(ctx context.Context, e *catalog.Entry) (context.Context, *callSpan) {
	if o == nil {
		return ctx, nil
	}
	k := &callSpan{observer: o, source: e.Source, began: time.Now()}
	ctx, k.span = o.start(ctx, "chela.call", trace.WithAttributes(keyTool.String(e.ID), keySource.String(string(e.Source))))
	return ctx, k
}

// asked notes that a person is asked to approve the call, and answered that it waits no longer.
func (k *callSpan) asked() {
	if k != nil {
		k.question = time.Now()
		k.span.AddEvent("chela.approval.asked")
	}
}

func (k *callSpan) answered() {
	if k != nil {
		k.waited = time.Since(k.question)
		k.span.AddEvent("chela.approval.answered")
	}
}

// end ends the span. The first end counts: a call that is cancelled ends then, since its tool may never come back.
func (k *callSpan) end(ctx context.Context, outcome CallOutcome, err error) {
	if k == nil || !k.ended.CompareAndSwap(false, true) {
		return
	}
	o := k.observer
	came := keyOutcome.String(outcomeName(outcome))
	class := metric.WithAttributes(keySource.String(string(k.source)), came)
	o.calls.Add(ctx, 1, class)
	o.callTime.Record(ctx, (time.Since(k.began) - k.waited).Seconds(), class)
	k.span.SetAttributes(came)
	if outcome != Finished {
		code := callCode(ctx, err)
		k.span.SetAttributes(keyCallCode.String(code))
		k.span.SetStatus(codes.Error, code)
	}
	k.span.End()
}

func outcomeName(o CallOutcome) string {
	return string([...]policy.Status{policy.NeverStarted, policy.Unknown, policy.Finished, policy.Failed, policy.Refused}[o])
}

// resultCode gives a code of this package: hooks and engines make failures too, and can give them any.
func resultCode(c Code) string {
	return among(string(c), string(CodeInternalError), string(CodeInvalidInput), string(CodeRuntimeUnavailable), string(CodeTimeout),
		string(CodeOutputLimit), string(CodeSnapshotLimit), string(CodeAborted))
}

// callCode classes the error of a call. A tool may give its errors codes of its own; those are not told.
func callCode(ctx context.Context, err error) string {
	var d *policy.Denied
	switch {
	case ctx.Err() != nil:
		return catalog.CodeAborted
	case errors.As(err, &d):
		return among(d.Code, catalog.CodeDenied, policy.DeniedByRule, policy.DeniedByHook, policy.HookFailed, policy.ApprovalRefused,
			policy.ApprovalExpired, policy.ApprovalCancelled, policy.ApprovalUnavailable)
	}
	return among(errorCode(err), catalog.CodeToolError, catalog.CodeInputContract, catalog.CodeOutputContract,
		catalog.CodeInvalidContract, catalog.CodeInvalidInput, catalog.CodeDenied, catalog.CodeAborted)
}

// among gives v if it is one of known, and or if not.
func among(v, or string, known ...string) string {
	if slices.Contains(known, v) {
		return v
	}
	return or
}
