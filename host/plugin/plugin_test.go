package plugin

import "testing"

func TestEcho(t *testing.T) {
	p := load(t, "testplugins/echo", nil)
	for range 3 {
		if got := callOK(t, p, "echo", `{"a":[1,"x"]}`); got != `{"a":[1,"x"]}` {
			t.Errorf("echo returned %s", got)
		}
	}
	if got := callOK(t, p, "echo", ``); got != `{}` {
		t.Errorf("echo of nothing returned %s", got)
	}
	e := callFails(t, p, "fail", `{"message":"no 100% way\n"}`)
	if e.Code != CodeTool || e.Error() != "no 100% way\n" {
		t.Errorf("fail gave %s %q", e.Code, e.Error())
	}
	if got := callOK(t, p, "slow", `{"ms":1}`); got != `{"ms":1}` {
		t.Errorf("slow returned %s", got)
	}
}
