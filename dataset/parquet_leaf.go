package dataset

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// leafWriter is how the values of a leaf are written as JSON: whole numbers
// with all their digits, times as ISO 8601, NaN, which is what pandas makes of
// a gap, as null.
func leafWriter(c *parquet.Column) func([]byte, parquet.Value) []byte {
	t := c.Type()
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DecimalType:
			return decimal(int(l.Scale))
		case *format.TimestampType:
			return timestamp(unit(l.Unit), l.IsAdjustedToUTC)
		case *format.TimeType:
			return timeOfDay(unit(l.Unit))
		case *format.DateType:
			return date
		case *format.UUIDType:
			return uuid
		case *format.IntType:
			if !l.IsSigned {
				return unsigned
			}
		}
	} else if k := t.ConvertedType(); k != nil {
		switch *k {
		case deprecated.Date:
			return date
		case deprecated.TimestampMillis:
			return timestamp(time.Millisecond, true)
		case deprecated.TimestampMicros:
			return timestamp(time.Microsecond, true)
		case deprecated.TimeMillis:
			return timeOfDay(time.Millisecond)
		case deprecated.TimeMicros:
			return timeOfDay(time.Microsecond)
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			return unsigned
		}
	}
	return plainLeaf
}

func plainLeaf(b []byte, v parquet.Value) []byte {
	if v.IsNull() {
		return append(b, "null"...)
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(b, v.Boolean())
	case parquet.Int32:
		return strconv.AppendInt(b, int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case parquet.Int96:
		return int96(b, v.Int96())
	case parquet.Float:
		return float(b, float64(v.Float()), 32)
	case parquet.Double:
		return float(b, v.Double(), 64)
	}
	return bytesLeaf(b, v.ByteArray())
}

// notText begins what stands for bytes of a Parquet file that are no text.
const notText = `{"base64":"`

// bytesLeaf writes text; bytes that are none become an object, which no field
// takes for text.
func bytesLeaf(b, text []byte) []byte {
	if utf8.Valid(text) {
		return appendQuoted(b, text)
	}
	b = append(b, notText...)
	return append(base64.StdEncoding.AppendEncode(b, text), `"}`...)
}

func float(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "null"...)
	case math.IsInf(f, 0):
		return appendQuoted(b, strconv.FormatFloat(f, 'g', -1, bits))
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return append(strconv.AppendFloat(b, f, 'f', -1, bits), ".0"...) // as JSON and pandas write it
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits)
}

func unsigned(b []byte, v parquet.Value) []byte {
	if v.Kind() == parquet.Int64 {
		return strconv.AppendUint(b, uint64(v.Int64()), 10)
	}
	if v.Kind() == parquet.Int32 {
		return strconv.AppendUint(b, uint64(uint32(v.Int32())), 10)
	}
	return plainLeaf(b, v)
}

// decimal writes a number with its scale, exactly.
func decimal(scale int) func([]byte, parquet.Value) []byte {
	return func(b []byte, v parquet.Value) []byte {
		n := new(big.Int)
		switch v.Kind() {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default:
			raw := v.ByteArray()
			const most = 64
			if len(raw) == 0 || len(raw) > most || scale < 0 || scale > 3*most {
				return bytesLeaf(b, raw)
			}
			n.SetBytes(raw)
			if raw[0]&0x80 != 0 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
			}
		}
		if scale <= 0 || scale > 200 {
			return n.Append(b, 10)
		}
		digits := n.Abs(n).String()
		if v := digits; len(v) <= scale {
			digits = strings.Repeat("0", scale+1-len(v)) + v
		}
		if negative(v) {
			b = append(b, '-')
		}
		b = append(b, digits[:len(digits)-scale]...)
		return append(append(b, '.'), digits[len(digits)-scale:]...)
	}
}

func negative(v parquet.Value) bool {
	switch v.Kind() {
	case parquet.Int32:
		return v.Int32() < 0
	case parquet.Int64:
		return v.Int64() < 0
	}
	return v.ByteArray()[0]&0x80 != 0
}

func unit(u format.TimeUnit) time.Duration {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return time.Millisecond
	case *format.MicroSeconds:
		return time.Microsecond
	}
	return time.Nanosecond
}

func timestamp(unit time.Duration, utc bool) func([]byte, parquet.Value) []byte {
	perSecond := int64(time.Second / unit)
	return func(b []byte, v parquet.Value) []byte {
		if v.Kind() != parquet.Int64 {
			return plainLeaf(b, v)
		}
		n := v.Int64()
		s, rest := n/perSecond, n%perSecond
		return moment(b, time.Unix(s, rest*int64(unit)).UTC(), utc)
	}
}

// moment writes a time, without a zone where the file knows none.
func moment(b []byte, t time.Time, utc bool) []byte {
	layout := "2006-01-02T15:04:05.999999999"
	if utc {
		layout += "Z"
	}
	return append(t.AppendFormat(append(b, '"'), layout), '"')
}

func timeOfDay(unit time.Duration) func([]byte, parquet.Value) []byte {
	return func(b []byte, v parquet.Value) []byte {
		var n int64
		switch v.Kind() {
		case parquet.Int32:
			n = int64(v.Int32())
		case parquet.Int64:
			n = v.Int64()
		default:
			return plainLeaf(b, v)
		}
		if n < 0 || n >= int64(24*time.Hour/unit) {
			return plainLeaf(b, v)
		}
		t := time.Unix(0, 0).UTC().Add(time.Duration(n) * unit)
		return append(t.AppendFormat(append(b, '"'), "15:04:05.999999999"), '"')
	}
}

func date(b []byte, v parquet.Value) []byte {
	if v.Kind() != parquet.Int32 {
		return plainLeaf(b, v)
	}
	t := time.Unix(int64(v.Int32())*24*60*60, 0).UTC()
	return append(t.AppendFormat(append(b, '"'), "2006-01-02"), '"')
}

// int96 is the time stamp of old Spark and Impala: nanoseconds of the day, and
// the Julian day.
func int96(b []byte, v deprecated.Int96) []byte {
	const unixEpoch = 2440588
	nanos := int64(v[1])<<32 | int64(v[0])
	days := int64(v[2]) - unixEpoch
	return moment(b, time.Unix(days*24*60*60, nanos).UTC(), false)
}

func uuid(b []byte, v parquet.Value) []byte {
	raw := v.ByteArray()
	if len(raw) != 16 {
		return bytesLeaf(b, raw)
	}
	h := hex.EncodeToString(raw)
	return appendQuoted(b, h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:])
}

func float16(b []byte, v parquet.Value) []byte {
	raw := v.ByteArray()
	if len(raw) != 2 {
		return bytesLeaf(b, raw)
	}
	h := binary.LittleEndian.Uint16(raw)
	frac, exp := float64(h&0x3ff), int(h>>10&0x1f)
	var f float64
	switch exp {
	case 0:
		f = math.Ldexp(frac, -24)
	case 0x1f:
		f = math.Inf(1)
		if frac != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1+frac/1024, exp-15)
	}
	if h&0x8000 != 0 {
		f = -f
	}
	return float(b, f, 32)
}
