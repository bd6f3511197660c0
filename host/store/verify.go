package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// AuditReport is what [Store.VerifyAudit] found.
type AuditReport struct {
	Entries  int      // lines that were read
	Last     string   // hash of the last line: keep it elsewhere, and the log up to it cannot be rewritten unnoticed
	Problems []string // in the order of the lines; none when the log is whole and agrees with the generations
	Torn     bool     // the log ends in a line that a crash cut short; it is not among Problems
}

// maxProblems bounds a report.
const maxProblems = 100

// auditLog is the log after one reading.
type auditLog struct {
	AuditReport
	commits map[int]AuditEntry // by generation; without abandoned ones
	end     tail
	highest int // of all lines that can be read
}

// VerifyAudit reads the whole audit log and checks each line against the one before, and the lines against current and the
// generations that are kept. It takes no lock: a change that is under way may show as an entry that is not current yet.
func (s *Store) VerifyAudit() (AuditReport, error) {
	log, err := s.readAudit(nil)
	if err == nil {
		err = s.compareAudit(log)
	}
	return log.AuditReport, describe("verify the audit log", err)
}

// Audit gives the entries of the log to each, oldest first, until it returns false. Lines that cannot be read are left out.
func (s *Store) Audit(each func(AuditEntry) bool) error {
	_, err := s.readAudit(each)
	return describe("read the audit log", err)
}

func (s *Store) readAudit(each func(AuditEntry) bool) (*auditLog, error) {
	log := &auditLog{commits: map[int]AuditEntry{}}
	f, err := s.disk.root.OpenFile(auditFile, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return log, nil
	}
	if err != nil {
		return log, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		log.problem("%s is not a regular file", auditFile)
		return log, err
	}
	r := bufio.NewReaderSize(f, maxAuditLine)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			log.Torn = len(line) > 0
			log.end.torn = log.Torn
			log.Last = log.end.hash
			return log, nil
		case errors.Is(err, bufio.ErrBufferFull):
			log.problem("line %d has more than %d bytes; the rest was not read", n, maxAuditLine)
			return log, nil
		case err != nil:
			return log, err
		}
		log.line(n, bytes.TrimSuffix(line, []byte("\n")))
		if each != nil && log.end.last.Seq != 0 && !each(log.end.last) {
			return log, nil
		}
	}
}

// line takes one whole line.
func (l *auditLog) line(n int, line []byte) {
	e, err := parseAudit(line)
	before := l.end
	l.end = tail{last: e, hash: hashLine(line), size: before.size + int64(len(line)) + 1}
	if err != nil {
		l.end.last = AuditEntry{}
		l.problem("line %d cannot be read: %v", n, err)
		return
	}
	l.Entries++
	l.highest = max(l.highest, e.Highest)
	if e.Prev != before.hash {
		l.problem("line %d does not follow the line before it: lines were changed, removed or put between", n)
	} else if e.Seq != before.last.Seq+1 && before.last.Seq != 0 || n == 1 && e.Seq != 1 {
		l.problem("line %d has number %d", n, e.Seq)
	}
	switch e.Event {
	case AuditCommit, AuditRecovered, AuditRepaired:
		if e.Generation > 0 {
			l.commits[e.Generation] = e
		}
	case AuditAbandoned:
		delete(l.commits, before.last.Generation)
		if e.Generation > 0 {
			if _, ok := l.commits[e.Generation]; !ok {
				l.commits[e.Generation] = e
			}
		}
	}
}

func (l *auditLog) problem(format string, args ...any) {
	if len(l.Problems) < maxProblems {
		l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
	}
}

// compareAudit checks the log against current and the generations.
func (s *Store) compareAudit(l *auditLog) error {
	p, err := s.pointer()
	if err != nil {
		return err
	}
	l.compareLast(p)
	numbers, err := s.numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		g, digest, err := s.load(n)
		if err != nil {
			l.problem("%v", err)
			continue
		}
		if e, ok := l.commits[n]; ok && e.Digest != digest {
			l.problem("%s has another digest than line %d says", generationFile(n), e.Seq)
		}
		l.compareGeneration(p, g)
	}
	return nil
}

// compareLast checks that the log ends with what is current, or with a commit that is under way or did not happen.
func (l *auditLog) compareLast(p pointer) {
	last := l.end.last
	if under := last.Event == AuditCommit && last.Generation > p.number; last.pointer() != p && !under && len(l.Problems) == 0 {
		l.problem("the last line is about generation %d, and %d is current", last.Generation, p.number)
	}
}

// compareGeneration checks that a generation has its line, and vouches for the lines before it. One from before the log was
// begun anew has none.
func (l *auditLog) compareGeneration(p pointer, g Generation) {
	e, ok := l.commits[g.Number]
	if !ok && g.Number == p.number {
		l.problem("generation %d has no line", g.Number)
	}
	if ok && e.Event == AuditCommit && g.Audit != e.Prev {
		l.problem("generation %d does not follow the line before line %d", g.Number, e.Seq)
	}
}
