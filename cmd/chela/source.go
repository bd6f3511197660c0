package main

import (
	"fmt"
	"io"
	"os"
)

// maxSource bounds what is read of a program. It is more than a cell may have, so that the cell's own limit answers for
// a program that is too long, with what to do about it.
const maxSource = 4 << 20

// source reads a file, or standard input for "-".
func (a *app) source(file string) (string, error) {
	in, name := a.in, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("the program cannot be read: %w", err)
		}
		defer f.Close()
		in, name = f, file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSource+1))
	if err != nil {
		return "", fmt.Errorf("the program cannot be read: %w", err)
	}
	if len(text) > maxSource {
		return "", fmt.Errorf("the program in %s is longer than %d bytes: is it the right file?", name, maxSource)
	}
	return string(text), nil
}
