package meter

func appendU32(b []byte, x uint32) []byte {
	for x >= 0x80 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

func appendS32(b []byte, x int32) []byte {
	for x < -0x40 || x >= 0x40 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x)&0x7f)
}

func appendName(b []byte, s string) []byte {
	b = appendU32(b, uint32(len(s)))
	return append(b, s...)
}

func appendSized(b, body []byte) []byte {
	b = appendU32(b, uint32(len(body)))
	return append(b, body...)
}
