package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Events of the audit log.
const (
	AuditCommit    = "commit"    // generation became current
	AuditAbandoned = "abandoned" // the commit before did not happen; generation is still current
	AuditRecovered = "recovered" // the log had lost what made generation current
	AuditRepaired  = "repaired"  // doctor changed something; detail says what
	AuditCollected = "collected" // gc removed something; detail says what
)

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq        int       `json:"seq"` // 1 for the first line
	Time       time.Time `json:"time"`
	Event      string    `json:"event"`
	Generation int       `json:"generation"`       // the current generation once the line holds
	Digest     Digest    `json:"digest,omitempty"` // of its file
	Highest    int       `json:"highest"`          // the greatest number a generation ever had, abandoned ones too
	User       int       `json:"user"`             // the user id of the process
	Command    string    `json:"command,omitempty"`
	Detail     string    `json:"detail,omitempty"`
	Prev       string    `json:"prev"` // SHA-256 of the line before without its newline, in hex; "" in the first line
}

// maxAuditLine bounds a line: two texts of MaxTextBytes, escaped.
const maxAuditLine = 64 << 10

func (e AuditEntry) pointer() pointer { return pointer{number: e.Generation, digest: e.Digest} }

// parseAudit reads a line and refuses every other way of writing it.
func parseAudit(line []byte) (AuditEntry, error) {
	var e AuditEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return e, err
	}
	again, err := e.line()
	if err == nil && !bytes.Equal(again, line) {
		err = errors.New("it was not written by chela, or was changed afterwards")
	}
	if err == nil && (e.Generation < 0 || e.Highest < e.Generation || e.Generation > 0 && !e.Digest.Valid()) {
		err = errors.New("it names no generation")
	}
	return e, err
}

func (e AuditEntry) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func hashLine(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// tail is the end of the audit log.
type tail struct {
	last AuditEntry // the zero value when the log is empty
	hash string     // of the last line
	size int64      // of all whole lines
	torn bool       // something follows them
}

// auditTail reads the last line.
func (s *Store) auditTail() (tail, error) {
	f, err := s.disk.root.OpenFile(auditFile, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return tail{}, nil
	}
	if err != nil {
		return tail{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	if !st.Mode().IsRegular() {
		return tail{}, fault(ErrCorrupt, "", "%s is not a regular file", auditFile)
	}
	start := max(0, st.Size()-2*maxAuditLine)
	end := make([]byte, st.Size()-start)
	if _, err := io.ReadFull(io.NewSectionReader(f, start, st.Size()-start), end); err != nil {
		return tail{}, err
	}
	whole := end[:bytes.LastIndexByte(end, '\n')+1]
	t := tail{size: start + int64(len(whole)), torn: len(whole) < len(end)}
	if len(whole) == 0 {
		if start > 0 {
			return t, fault(ErrCorrupt, "", "%s does not end in lines: run doctor --repair", auditFile)
		}
		return t, nil
	}
	line := whole[:len(whole)-1]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if t.last, err = parseAudit(line); err != nil {
		return t, fault(ErrCorrupt, "", "the last line of %s cannot be read: %v; run doctor --repair", auditFile, err)
	}
	t.hash = hashLine(line)
	return t, nil
}

// record appends a line to the log and returns the new end. When it fails, the log is as it was, or has a torn line that the
// next change removes.
func (s *Store) record(t tail, e AuditEntry) (_ tail, err error) {
	e.Seq, e.Prev, e.User = t.last.Seq+1, t.hash, os.Getuid()
	e.Highest = max(e.Highest, e.Generation, t.last.Highest)
	e.Detail = clip(e.Detail)
	if e.Time.IsZero() {
		e.Time = now()
	}
	line, err := e.line()
	if err != nil {
		return t, err
	}
	var f *os.File
	if err := s.disk.step("audit.open", auditFile, func() (err error) {
		f, err = s.disk.root.OpenFile(auditFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		return err
	}); err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			_ = f.Truncate(t.size)
		}
		f.Close()
	}()
	if err := s.disk.write("audit", auditFile, f, append(line, '\n')); err != nil {
		return t, err
	}
	if err := s.disk.step("audit.sync", auditFile, f.Sync); err != nil {
		return t, err
	}
	return tail{last: e, hash: hashLine(line), size: t.size + int64(len(line)) + 1}, nil
}

// cutTail removes a line that a crash cut short.
func (s *Store) cutTail(t tail) error {
	return s.disk.step("audit.truncate", auditFile, func() error {
		f, err := s.disk.root.OpenFile(auditFile, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(t.size), f.Sync(), f.Close())
	})
}

// now is the time with a precision that people read.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func clip(text string) string {
	if len(text) <= MaxTextBytes {
		return text
	}
	return fmt.Sprintf("%s ... (%d bytes)", bytes.ToValidUTF8([]byte(text[:MaxTextBytes-64]), nil), len(text))
}
