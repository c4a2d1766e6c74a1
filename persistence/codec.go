package persistence

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	schemaVersion  = 1
	compressedFlag = 0x80
	compressAbove  = 2 << 10
	maxExpanded    = 256 << 20
)

var errBadValue = errors.New("a stored value cannot be read")

// codec turns nouns into values and back.
type codec struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

func newCodec() (codec, error) {
	pack, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	unpack, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxExpanded), zstd.WithDecoderLowmem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	return codec{pack: pack, unpack: unpack}, nil
}

func (c codec) encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("persistence: encode: %w", err)
	}
	if len(body) > compressAbove {
		return c.pack.EncodeAll(body, []byte{schemaVersion | compressedFlag}), nil
	}
	return append([]byte{schemaVersion}, body...), nil
}

func (c codec) decode(value []byte, into any) error {
	if len(value) == 0 {
		return fmt.Errorf("%w: it is empty", errBadValue)
	}
	if v := value[0] &^ compressedFlag; v != schemaVersion {
		return fmt.Errorf("%w: schema version %d, this program knows %d", ErrFormat, v, schemaVersion)
	}
	body := value[1:]
	if value[0]&compressedFlag != 0 {
		var err error
		if body, err = c.unpack.DecodeAll(body, nil); err != nil {
			return fmt.Errorf("%w: %w", errBadValue, err)
		}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", errBadValue, err)
	}
	return nil
}
