package config

import "strings"

// nearest returns the known name closest to a name, if it is not further than most changes of a letter; "" otherwise.
func nearest(name string, known []string, most int) string {
	if len(name) < 3 {
		return ""
	}
	best, least := "", most+1
	for _, k := range known {
		if d := distance(fold(name), fold(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// fold removes what people vary: case, underscores and dashes.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is the Levenshtein distance in bytes. Names longer than any known one are far from all.
func distance(a, b string) int {
	if len(a) > 40 {
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
