package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/chelahost/chela/host/policy"
)

// A trace is a file of records, one a call.
type trace struct {
	file    *os.File
	buffer  *bufio.Writer
	records *policy.JSONRecorder
}

// openTrace makes the file, readable by its owner alone: records hold what the calls were given, without what looks like
// a secret.
func openTrace(name string) (*trace, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	b := bufio.NewWriter(f)
	return &trace{f, b, policy.NewJSONRecorder(b)}, nil
}

// close ends the trace; the host must be closed, since calls that are given up are recorded then.
func (t *trace) close() error {
	if err := errors.Join(t.records.Err(), t.buffer.Flush(), t.file.Close()); err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	return nil
}
