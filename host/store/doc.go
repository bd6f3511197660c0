// Package store keeps which plugins are installed: their bytes, versions, grants and configuration.
//
// It is plain files, so that operators can look at them and copy them:
//
//	blobs/sha256/<hex>     immutable parts of plugins, verified when written and when read
//	generations/<n>.json   the whole state, numbered
//	current                one line, "<n> <digest of that file>": the commit point
//	data/<plugin>/         what a plugin keeps; survives upgrade, rollback and uninstall without purge
//	audit.jsonl            one line for each change, each with the hash of the line before
//	quarantine/            what was found broken or foreign; nothing reads it
//	tmp/                   files being written; empty while nobody holds the lock
//	cache/ lock
//
// # How a change is committed
//
// [Store.Update] takes the lock, reads current again, and finishes what a killed process left undone. Then it writes, each
// step made durable before the next: the blobs, the generation's file, the line of the audit log, and current. Replacing
// current by a rename is the commit point; before it a reader sees the old generation, after it the new one.
//
// The audit line comes before the commit point, so no generation is ever current without its line. When the change
// ends between the two, the line speaks of a generation that never was: the next change sees that the log's last line and
// current disagree, removes the generation's file and appends a line that says it was abandoned. Numbers are not used twice.
// A line that a crash cut short has no newline at its end and was never followed by a commit: it is removed.
//
// Each generation holds the hash of the audit line before its own, and each line the digest of its generation's file. So
// current vouches for the file of the generation, and that for the log: lines cannot be changed or cut off unnoticed
// by accident. Somebody who may write to the root can of course rewrite everything.
//
// Readers never lock. A reader that has a generation may read its blobs until [Store.GC] drops that generation.
package store
