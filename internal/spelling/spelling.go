// Package spelling tells how far two names are apart, so that an error can name what was probably meant.
package spelling

import "strings"

// maxName is the length, in bytes, from which on a name is not compared: no known one is as long.
const maxName = 40

var variants = strings.NewReplacer("_", "", "-", "")

// Fold removes what people vary in names: case, underscores and dashes.
func Fold(s string) string { return variants.Replace(strings.ToLower(s)) }

// Nearest returns the known name that is closest to a name when both are folded, if it is not further than most changes of
// a letter; "" otherwise. Of equally close ones the first wins.
func Nearest(name string, known []string, most int) string {
	name = Fold(name)
	best, least := "", most+1
	for _, k := range known {
		f := Fold(k)
		if len(name) > len(f)+most || len(f) > len(name)+most {
			continue
		}
		if d := Distance(name, f); d < least {
			best, least = k, d
		}
	}
	return best
}

// Distance is the Levenshtein distance of two names in bytes. A very long a is far from everything.
func Distance(a, b string) int {
	if len(a) > maxName {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
