// Package meter rewrites a WebAssembly module before it is compiled, so that the host can stop it, account for it and
// redirect its imports.
//
// A compiled module runs on the goroutine that calls it, and nothing can take the processor away from it: neither a
// deadline nor the garbage collector, which waits for it. So [Rewrite] adds a counter, a global that the module cannot
// name, and code that decrements it: at every function entry and at every loop header, and wherever a path has
// run 1024 bytes of code without. When the counter falls below zero it is set to [Options.Slice] again, and an imported
// function, the tick, is called. It is Go code, where the goroutine can be preempted; it sees the context of the
// call, and by a non-zero answer makes the module trap.
//
// # What is guaranteed
//
//   - Between two ticks a module passes at most Slice checks, and between two checks it runs at most about 1024 bytes of
//     code (some 400 instructions) in each function it passes through. This holds for loops, for calls without loops, for tail calls
//     and for long straight code, whatever the module does.
//   - memory.fill, memory.copy, memory.init, table.fill, table.copy, table.init and table.grow are charged by their
//     length before they run: one check for 64 bytes or 8 entries. An exception calls the tick every time.
//   - A module that was valid stays valid and behaves as before, as far as it can tell, except where the options say
//     otherwise. A module that was invalid stays invalid, custom sections aside, which are dropped. In
//     particular no index of the module reaches the counter, the shadows of globals or the functions that are added.
//   - A trap by the tick leaves the instance as it is, in the middle of something: its memory is not to be trusted.
//   - Tables grow to [MaxTableEntries] at most.
//   - Rewrite takes linear time and bounded memory, for any bytes.
//
// # What is not
//
//   - Checks count steps, not time: 20,000 of them take 20 to 200 microseconds in ordinary code, and up to a
//     second in code made to miss every cache. A limit in time comes from what the tick answers.
//   - A single bulk instruction, or memory.grow, runs in one piece, however long; only the memory limit bounds that.
//   - Calls of imports are not charged. What they do is for the host to bound.
//   - Exempt functions are not checked at all.
//   - Memory is not limited: use wazero's memory limit. Nor is the compiler: a module of a hundred kilobytes can keep
//     it busy for a long time, in spite of the limits here.
//   - Saved globals are not memory: an instance is as before only if its memories and tables are, too.
//
// # What is accepted
//
// Version 1 of the binary format with everything in version 2.0 of the core specification, tail calls, extended constant
// expressions, and exception handling with exnref. Threads, memory64, multiple memories, relaxed vector
// instructions, typed function references, garbage collection and legacy exceptions are refused with [ErrUnsupported],
// as is whatever is not known here: code that is not understood cannot be metered.
package meter
