package persistence

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

const (
	schemaVersion  = 1
	eventVersion   = 2 // of an event's value: its parts by length, then its data as they are
	compressedFlag = 0x80
	compressAbove  = 8 << 10
	maxExpanded    = 256 << 20
	keepPress      = 64 << 10
)

var errBadValue = errors.New("a stored value cannot be read")

// codec turns nouns into values and back.
type codec struct {
	pack    *zstd.Encoder
	unpack  *zstd.Decoder
	presses *sync.Pool // of *press
}

func newCodec() (codec, error) {
	pack, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	unpack, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxExpanded), zstd.WithDecoderLowmem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	return codec{pack: pack, unpack: unpack, presses: &sync.Pool{New: newPress}}, nil
}

func (c codec) encode(v any) ([]byte, error) {
	return c.packed(schemaVersion, v, nil)
}

// packed is a value: the version, a head, and v as JSON.
func (c codec) packed(version byte, v any, head func([]byte) []byte) ([]byte, error) {
	p, _ := c.presses.Get().(*press)
	defer func() {
		if p.Cap() <= keepPress {
			c.presses.Put(p)
		}
	}()
	p.Reset()
	_ = p.WriteByte(version) // a buffer takes everything
	if head != nil {
		_, _ = p.Write(head(p.AvailableBuffer()))
	}
	if err := p.json.Encode(v); err != nil {
		return nil, fmt.Errorf("persistence: encode: %w", err)
	}
	value := p.Bytes()[:p.Len()-1] // without the line's end
	if len(value) <= compressAbove {
		return bytes.Clone(value), nil
	}
	return c.pack.EncodeAll(value[1:], []byte{version | compressedFlag}), nil
}

// press is where a value is made, before it is copied at its length.
type press struct {
	bytes.Buffer
	json *json.Encoder
}

func newPress() any {
	p := new(press)
	p.json = json.NewEncoder(&p.Buffer)
	return p
}

// unpacked is the body of a value of a version.
func (c codec) unpacked(version byte, value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errBadValue)
	}
	if v := value[0] &^ compressedFlag; v != version {
		return nil, fmt.Errorf("%w: schema version %d, this program knows %d", ErrFormat, v, version)
	}
	if value[0]&compressedFlag == 0 {
		return value[1:], nil
	}
	body, err := c.unpack.DecodeAll(value[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadValue, err)
	}
	return body, nil
}

// encodeEvent is an event at rest, and fills in its data; subject, offset and
// sequence stand in the log.
func (c codec) encodeEvent(e *event.Event, data any) ([]byte, error) {
	size := 0
	value, err := c.packed(eventVersion, data, func(b []byte) []byte {
		for _, text := range [...]string{e.ID, string(e.Type), string(e.Environment), e.SvcID} {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
		b = binary.AppendVarint(b, e.CreatedAt.Unix())
		b = binary.AppendUvarint(b, uint64(e.CreatedAt.Nanosecond())) //nolint:gosec // never negative
		size = len(b)
		return b
	})
	if err != nil {
		return nil, err
	}
	body, err := c.unpacked(eventVersion, value)
	if err == nil {
		e.Data = body[size:]
	}
	return value, err
}

func (c codec) decodeEvent(value []byte) (e event.Event, err error) {
	body, err := c.unpacked(eventVersion, value)
	if err != nil {
		return e, err
	}
	var texts [4]string
	for i := range texts {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > uint64(len(body)-size) { //nolint:gosec // never negative
			return e, errBadValue
		}
		texts[i], body = string(body[size:size+int(n)]), body[size+int(n):] //nolint:gosec // within the body
	}
	at, size := binary.Varint(body)
	if size <= 0 {
		return e, errBadValue
	}
	body = body[size:]
	nanos, size := binary.Uvarint(body)
	if size <= 0 || nanos >= uint64(time.Second) {
		return e, errBadValue
	}
	e.ID, e.Type, e.Environment, e.SvcID = texts[0], event.Type(texts[1]), domain.Environment(texts[2]), texts[3]
	e.CreatedAt, e.Data = time.Unix(at, int64(nanos)).UTC(), body[size:]
	return e, nil
}

func (c codec) decode(value []byte, into any) error {
	body, err := c.unpacked(schemaVersion, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", errBadValue, err)
	}
	return nil
}
