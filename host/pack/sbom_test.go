package pack

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBillOfMaterials(t *testing.T) {
	p := packed(t, nil)
	part, ok := p.Part(SBOM)
	if !ok {
		t.Fatal("there is none")
	}
	var b bom
	if err := json.Unmarshal(part.Data, &b); err != nil {
		t.Fatal(err)
	}
	want := []bomComponent{
		{Type: "library", Ref: "pkg:golang/example.org/a@v1.0.0", Name: "example.org/a", Version: "v1.0.0", PURL: "pkg:golang/example.org/a@v1.0.0", Properties: []bomProperty{{"go:sum", "h1:AAAA="}}},
		{Type: "library", Ref: "pkg:golang/example.org/new@v2.0.0%2Bincompatible", Name: "example.org/new", Version: "v2.0.0+incompatible", PURL: "pkg:golang/example.org/new@v2.0.0%2Bincompatible", Properties: []bomProperty{{"go:sum", "h1:BBBB="}}},
	}
	if d := cmp.Diff(want, b.Components); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]bomComponent{{Type: "application", Name: "Go", Version: "go1.26"}, {Type: "application", Name: "Go cmd/compile", Version: "go1.26"}}, b.Metadata.Tools.Components); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestProducersHostile(t *testing.T) {
	head := []byte("\x00asm\x01\x00\x00\x00")
	many := head
	for range 100 {
		many = append(many, producers("language", "x"+strings.Repeat("y", len(many)%97), "\xff")...)
	}
	if got := readProducers(many); len(got) == 0 || len(got) > maxProducers {
		t.Errorf("%d tools", len(got))
	}
	for i := range many[:200] {
		readProducers(many[:i])
	}
	readProducers(append(head, 0, 20, 9, 'p', 'r', 'o', 'd', 'u', 'c', 'e', 'r', 's', 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 'x', 0xff, 0xff, 0xff))
}

func FuzzBillOfMaterials(f *testing.F) {
	f.Add(testModule())
	f.Add(append(append(bytes.Clone(infoBegin), "dep\ta\tb\n=>\tc\td\n"...), infoEnd...))
	f.Add(append([]byte("\x00asm\x01\x00\x00\x00"), producers("a", "b", "c")...))
	p := packed(f, nil)
	f.Fuzz(func(t *testing.T, module []byte) {
		readProducers(module)
		bill, err := billOfMaterials(p.Manifest(), module)
		if err == nil && !isObject(bill) {
			t.Errorf("not JSON: %q", bill)
		}
	})
}
