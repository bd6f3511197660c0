//go:build race

package main

// raceDetector: every command of a script is a process, and starts ten times slower.
const raceDetector = true
