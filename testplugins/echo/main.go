// Command echo is the plugin tests talk to when they need one that behaves: it returns what it is given, fails when it
// is told to, and sleeps for as long as it is asked.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// maxSleepMs bounds slow, so that its multiplication to nanoseconds cannot overflow.
const maxSleepMs = 24 * 60 * 60 * 1000

// main is empty: the module is a reactor, its tools are its exports.
func main() {}

// echo returns its input, and {} when there is none.
func echo(input []byte) ([]byte, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return []byte("{}"), nil
	}
	return input, nil
}

// fail fails with exactly the message it is given.
func fail(input []byte) ([]byte, error) {
	var in struct{ Message string }
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("invalid_input: %w", err)
	}
	if in.Message == "" {
		in.Message = "failed as asked"
	}
	return nil, fmt.Errorf("%s", in.Message)
}

// slow returns a function that sleeps with the given sleep and answers how long it was asked to.
func slow(sleep func(time.Duration)) func([]byte) ([]byte, error) {
	return func(input []byte) ([]byte, error) {
		var in struct{ Ms int64 }
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("invalid_input: %w", err)
		}
		if in.Ms < 0 || in.Ms > maxSleepMs {
			return nil, fmt.Errorf("invalid_input: ms must be between 0 and %d", maxSleepMs)
		}
		sleep(time.Duration(in.Ms) * time.Millisecond)
		return fmt.Appendf(nil, `{"ms":%d}`, in.Ms), nil
	}
}
