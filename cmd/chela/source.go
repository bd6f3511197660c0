package main

import (
	"fmt"
	"io"
	"os"
	"strings"
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
	return executable(string(text)), nil
}

// executable lets a file be a program of its own, by a first line such as #!/usr/bin/env -S chela exec. Every other line of
// that kind is left to the cell, which knows those of JavaScript and takes the rest for shell scripts.
func executable(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#!") && strings.Contains(first, "chela") {
		return "//" + text[2:]
	}
	return text
}
