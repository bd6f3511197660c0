package catalog

import (
	"slices"
	"testing"
)

func BenchmarkNewEntry(b *testing.B) {
	tool := fake("alpha_tool")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewEntry(tool); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew1000(b *testing.B) {
	sorted := thousand(b)
	c, _ := New(sorted)
	sorted = c.Entries()
	reversed := slices.Clone(sorted)
	slices.Reverse(reversed)
	for _, order := range []struct {
		name string
		list []*Entry
	}{{"sorted", sorted}, {"reversed", reversed}} {
		b.Run(order.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(order.list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFilter1000(b *testing.B) {
	c, _ := New(thousand(b))
	for b.Loop() {
		c.Filter(func(id string) bool { return id[len(id)-9] != '3' })
	}
}

func BenchmarkQuickIndexCold1000(b *testing.B) {
	c, _ := New(thousand(b))
	for b.Loop() {
		if c.buildIndex() == "" {
			b.Fatal("no index")
		}
	}
}

func BenchmarkDigestCold1000(b *testing.B) {
	c, _ := New(thousand(b))
	for b.Loop() {
		c.computeDigest()
	}
}

func BenchmarkSearch1000(b *testing.B) {
	c, _ := New(thousand(b))
	for _, query := range []string{"tool_0500_of_many", "describe some words of a tool", ""} {
		b.Run("query="+query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(c.Search(query, 8)) == 0 {
					b.Fatal("nothing found")
				}
			}
		})
	}
}

func BenchmarkLookup1000(b *testing.B) {
	c, _ := New(thousand(b))
	for _, needle := range []string{"openclaw:plugin0:tool_0500_of_many", "tool_0500_of_many", "tool_5000"} {
		b.Run("needle="+needle, func(b *testing.B) {
			for b.Loop() {
				_, _ = c.Lookup(needle)
			}
		})
	}
}

func BenchmarkCheckInputSmall(b *testing.B) {
	e := entry(b, sample()[0])
	input := raw(`{"path":"a/b.txt","limit":10}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := e.CheckInput(input); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileContract(b *testing.B) {
	for b.Loop() {
		if err := entry(b, fake("x")).CheckContract(); err != nil {
			b.Fatal(err)
		}
	}
}
