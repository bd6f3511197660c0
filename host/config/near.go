package config

import "strings"

// nearest returns the known name closest to a name, if it is not further than most changes of a letter; "" otherwise.
func nearest(name string, known []string, most int) string {
	if len(name) < 3 {
		return ""
	}
	name = fold(name)
	best, least := "", most+1
	for _, k := range known {
		f := fold(k)
		if len(name) > len(f)+most || len(f) > len(name)+most {
			continue
		}
		if d := distance(name, f); d < least {
			best, least = k, d
		}
	}
	return best
}

// extended returns the first known name that begins with a name or is the beginning of it: a unit too few or too many.
func extended(name string, known []string) string {
	name = fold(name)
	for _, k := range known {
		if f := fold(k); len(name) > 3 && (strings.HasPrefix(f, name) || strings.HasPrefix(name, f)) {
			return k
		}
	}
	return ""
}

// fold removes what people vary: case, underscores and dashes.
func fold(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "_", ""), "-", "")
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
