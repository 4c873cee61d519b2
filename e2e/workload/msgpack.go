package workload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// unpack decodes one value of MessagePack (its specification: github.com/msgpack/msgpack, spec.md) into what
// encoding/json makes of JSON, but with int64 for whole numbers. A key that is no string becomes its text.
// Extension types are not known.
func unpack(data []byte) (any, error) {
	u := &unpacker{data: data}
	v, err := u.value(0)
	if err == nil && u.at < len(data) {
		err = fmt.Errorf("%d bytes follow the value", len(data)-u.at)
	}
	return v, err
}

type unpacker struct {
	data []byte
	at   int
}

var errShort = errors.New("it ends in the middle of a value")

// deepest is how deep values may be nested.
const deepest = 200

func (u *unpacker) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.data)-u.at {
		return nil, errShort
	}
	b := u.data[u.at : u.at+n]
	u.at += n
	return b, nil
}

// number reads a whole number of n bytes.
func (u *unpacker) number(n int) (uint64, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-n:], b)
	return binary.BigEndian.Uint64(wide[:]), nil
}

func (u *unpacker) value(depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("values are nested too deep")
	}
	first, err := u.number(1)
	if err != nil {
		return nil, err
	}
	switch c := byte(first); {
	case c < 0x80:
		return int64(c), nil
	case c < 0x90:
		return u.dictionary(int(c&0x0f), depth)
	case c < 0xa0:
		return u.list(int(c&0x0f), depth)
	case c < 0xc0:
		return u.text(int(c & 0x1f))
	case c >= 0xe0:
		return int64(int8(c)), nil
	default:
		return u.long(c, depth)
	}
}

// long reads a value whose first byte says how many bytes its length or number has.
func (u *unpacker) long(c byte, depth int) (any, error) {
	switch c {
	case 0xc0:
		return nil, nil //nolint:nilnil // the value nil
	case 0xc2, 0xc3:
		return c == 0xc3, nil
	case 0xca, 0xcb:
		n, err := u.number(4 << (c - 0xca))
		if c == 0xca {
			return float64(math.Float32frombits(uint32(n))), err
		}
		return math.Float64frombits(n), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		n, err := u.number(1 << (c - 0xcc))
		return int64(n), err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (c - 0xd0)
		n, err := u.number(size)
		shift := 64 - 8*size
		return int64(n) << shift >> shift, err
	}
	lengths := map[byte]int{
		0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
	}
	size, known := lengths[c]
	if !known {
		return nil, fmt.Errorf("byte %d: a value of type %#x, which is not known", u.at-1, c)
	}
	n, err := u.number(size)
	switch {
	case err != nil:
		return nil, err
	case c >= 0xde:
		return u.dictionary(int(n), depth)
	case c >= 0xdc:
		return u.list(int(n), depth)
	}
	return u.text(int(n))
}

func (u *unpacker) text(n int) (any, error) {
	b, err := u.take(n)
	return string(b), err
}

func (u *unpacker) list(n, depth int) (any, error) {
	all := []any{}
	for range n {
		v, err := u.value(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (u *unpacker) dictionary(n, depth int) (any, error) {
	all := map[string]any{}
	for range n {
		key, err := u.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if all[fmt.Sprint(key)], err = u.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return all, nil
}
