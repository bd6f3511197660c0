package quickjs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chelahost/chela/quickjs"
)

func newEngine(tb testing.TB, opts *quickjs.Options) *quickjs.Engine {
	tb.Helper()
	e, err := quickjs.New(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func TestSmoke(t *testing.T) {
	t0 := time.Now()
	e := newEngine(t, nil)
	t.Log("engine", time.Since(t0))
	t0 = time.Now()
	img, err := e.NewImage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("image", time.Since(t0))
	g, err := e.Start(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ev := func(src string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		t0 := time.Now()
		v, err := g.Eval(ctx, quickjs.Script{File: "user.js", Source: src})
		if err != nil {
			t.Log(src, "->", err, time.Since(t0))
			return
		}
		s, err := g.Text(v)
		t.Log(src, "->", s, err, time.Since(t0))
	}
	ev("1+1")
	ev("Math.random()")
	ev("performance.now()")
	ev("new Date().toISOString()")
	ev("Object.getOwnPropertyNames(globalThis).join()")
	ev("\n\ntry { null.x } catch (e) { e.stack }")
	ev("let d=0; const f=()=>{d++;f()}; try{f()}catch(e){d+String(e)}")
	ev("String(Error.isError)")
	err = g.Compile(t.Context(), quickjs.Script{File: "user.js", Source: "let a = 1;\nlet b = ;"})
	t.Log(err)
	ev("try{JSON.parse('['.repeat(100000)).length}catch(e){String(e)}")
	ev("let p={};for(let i=0;i<1e5;i++)p=new Proxy(p,{});try{p.x}catch(e){String(e)}")
	ev("let p2={};for(let i=0;i<2e3;i++)p2=new Proxy(p2,{});try{p2.x}catch(e){String(e)}")
	ev("while(true);")
	ev("2+2")
	ev("try { const a = []; for (;;) a.push(new Array(1e5).fill(1)) } catch (e) { String(e) }")
	ev("Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)")
	ev("2+2")
	_ = errors.Is
}
