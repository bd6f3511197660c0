package linear

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// wasm is a module with one page of memory and nothing else; it exports the memory as "m".
const wasm = "\x00asm\x01\x00\x00\x00" + "\x05\x03\x01\x00\x01" + "\x07\x05\x01\x01m\x02\x00"

const wasmPage = 65536

// instantiate gives a module whose memory is ours.
func instantiate(tb testing.TB, limit uint64) (*Memory, api.Memory) {
	tb.Helper()
	ctx := context.Background()
	m, err := New(limit)
	if err != nil {
		tb.Fatal(err)
	}
	rt := wazero.NewRuntime(ctx)
	tb.Cleanup(func() {
		if err := rt.Close(ctx); err != nil {
			tb.Error(err)
		}
		if m.Bytes() != nil {
			tb.Error("closing the runtime did not free the memory")
		}
	})
	mod, err := rt.Instantiate(experimental.WithMemoryAllocator(ctx, m.Allocator()), []byte(wasm))
	if err != nil {
		tb.Fatal(err)
	}
	return m, mod.ExportedMemory("m")
}

func TestGrowAndRestore(t *testing.T) {
	const limit = 200 * wasmPage // with room for what is given back rather than zeroed
	m, mem := instantiate(t, limit)
	rnd := rand.New(rand.NewPCG(1, 2))
	image := make([]byte, 3*wasmPage)
	for i := range image[:wasmPage/2] {
		image[i] = byte(rnd.Int())
	}
	mem.Grow(2)
	m.Fill(image, 0)
	for _, grow := range []uint32{0, 1, 0, 100, 196, 3} {
		if _, ok := mem.Grow(grow); !ok {
			t.Fatalf("growing by %d pages was refused", grow)
		}
		// A module writes anywhere in what it has, and reads zero where nothing was written.
		if i := bytes.IndexFunc(m.Bytes()[len(image):], func(r rune) bool { return r != 0 }); i >= 0 {
			t.Fatalf("after growing by %d: byte %d of the new memory is not zero", grow, i)
		}
		for range 100 {
			mem.WriteByte(uint32(rnd.IntN(int(mem.Size()))), 0xff)
		}
		if !m.Restore(image, mem, Range{}) {
			t.Fatalf("the runtime keeps %d bytes", mem.Size())
		}
		if got, ok := mem.Read(0, mem.Size()); !ok || !bytes.Equal(got, image) {
			t.Fatalf("after growing by %d the memory differs from the image", grow)
		}
	}
}

func TestLimit(t *testing.T) {
	m, mem := instantiate(t, 4*wasmPage)
	if _, ok := mem.Grow(4); ok || !m.Refused() {
		t.Error("the memory grew past its space")
	}
	if m.Restore(make([]byte, wasmPage), mem, Range{}); m.Refused() {
		t.Error("a restored memory still says that it was refused")
	}
	m.Limit(2 * wasmPage)
	if _, ok := mem.Grow(2); ok {
		t.Error("the memory grew past its limit")
	}
	m.Limit(100 * wasmPage)
	if _, ok := mem.Grow(3); !ok || m.Space() != 4*wasmPage {
		t.Error("the memory did not grow up to its space")
	}
}

func TestDiff(t *testing.T) {
	m, mem := instantiate(t, 4*wasmPage)
	image := make([]byte, wasmPage)
	image[0] = 1
	m.Fill(image, 0)
	mem.Grow(1)
	if pages, ok := m.Diff(image, 0, Range{}); !ok || len(pages) != 0 {
		t.Errorf("%d pages differ from the image", len(pages))
	}
	for _, at := range []uint32{5, PageSize, wasmPage + 3*PageSize} {
		mem.WriteByte(at, 7)
	}
	pages, ok := m.Diff(image, 3*PageSize, Range{})
	if !ok || len(pages) != 3 || pages[2].Index != wasmPage/PageSize+3 || pages[2].Data[0] != 7 {
		t.Errorf("%v, %d pages", ok, len(pages))
	}
	if _, ok := m.Diff(image, 3*PageSize-1, Range{}); ok {
		t.Error("one byte less than needed was enough")
	}
	if pages, _ := m.Diff(image, 3*PageSize, Range{PageSize, 3 * PageSize}); len(pages) != 2 || pages[1].Index != wasmPage/PageSize+3 {
		t.Errorf("%d pages outside of what is known", len(pages))
	}
	mem.WriteByte(5, 9)
	if pages[0].Data[5] != 7 {
		t.Error("a page is not a copy")
	}
}

func TestClear(t *testing.T) {
	m, mem := instantiate(t, 200*wasmPage)
	mem.Grow(199)
	for name, clear := range map[string]func([]byte){"Clear": Clear, "ClearUntouched": ClearUntouched} {
		for _, n := range []int{PageSize, wasmPage, 150 * wasmPage} {
			for i := 0; i < len(m.Bytes()); i += 1000 {
				m.Bytes()[i] = 1
			}
			clear(m.Bytes()[PageSize : PageSize+n])
			for i, b := range m.Bytes() {
				inside := i >= PageSize && i < PageSize+n
				if want := i%1000 == 0 && !inside; (b == 1) != want {
					t.Fatalf("%s of %d bytes: byte %d is %d", name, n, i, b)
				}
			}
		}
	}
}

// BenchmarkRestore measures setting back a memory of which a call touched a little.
func BenchmarkRestore(b *testing.B) {
	m, mem := instantiate(b, 64*wasmPage)
	mem.Grow(39)
	image := bytes.Clone(m.Bytes())
	b.SetBytes(int64(len(image)))
	for b.Loop() {
		for at := uint32(0); at < 20*PageSize; at += PageSize {
			mem.WriteByte(at, 1)
		}
		m.Restore(image, mem, Range{})
	}
}
