package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// pointer is what current says.
type pointer struct {
	number int
	digest Digest // of the generation's file; "" for number 0
}

func (p pointer) line() []byte {
	if p.number == 0 {
		return []byte("0\n")
	}
	return fmt.Appendf(nil, "%d %s\n", p.number, p.digest)
}

// pointer reads current, and nothing else.
func (s *Store) pointer() (pointer, error) {
	data, err := s.disk.read(currentFile, 256)
	if errors.Is(err, fs.ErrNotExist) {
		return pointer{}, fault(ErrCorrupt, "", "%s has no file current: run doctor --repair", s.root)
	}
	if err != nil {
		return pointer{}, err
	}
	var p pointer
	number, digest, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	p.digest = Digest(digest)
	p.number, err = strconv.Atoi(number)
	if err != nil || p.number < 0 || string(p.line()) != string(data) || p.number > 0 && !p.digest.Valid() {
		return pointer{}, fault(ErrCorrupt, "", "current does not name a generation: run doctor --repair")
	}
	return p, nil
}

// Current returns the current generation. It reads two files and takes no lock. The caller must not change the result.
func (s *Store) Current() (Generation, error) {
	g, _, err := s.current()
	return g, describe("read current", err)
}

func (s *Store) current() (Generation, pointer, error) {
	for tries := 0; ; tries++ {
		p, err := s.pointer()
		if err != nil {
			return Generation{}, p, err
		}
		if p.number == 0 {
			return Generation{Format: generationFormat}, p, nil
		}
		g, digest, err := s.loadVouched(p.number, p.digest)
		if err == nil && digest != p.digest {
			err = fault(ErrCorrupt, "", "%s is not the file that current names: run doctor --repair", generationFile(p.number))
		}
		if err == nil {
			return g, p, nil
		}
		// A reader that was slow may look for a generation that is gone since.
		if again, e := s.pointer(); e != nil || again == p || tries == 10 {
			if errors.Is(err, ErrNotFound) {
				err = fault(ErrCorrupt, "", "current names generation %d, which is missing: run doctor --repair", p.number)
			}
			return Generation{}, p, err
		}
	}
}
