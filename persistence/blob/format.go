package blob

import (
	"bufio"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/callboard/callboard/domain"
)

// A sealed blob begins with a magic number, the length of the sealed key in two bytes, and the blob's key sealed by
// Sealer. Encrypted chunks of chunkSize bytes with their authentication tags follow. The nonce of a chunk contains its number and
// marks the last chunk. A blob that was truncated, reordered or changed cannot be read. Disk and S3 use the same format.
const (
	magic      = "CBB1"
	chunkSize  = 64 << 10
	tagSize    = 16
	keySize    = 32
	maxSealed  = 4 << 10
	partSuffix = ".part"
)

// Errors of blob stores.
var (
	// ErrName says that a workspace or blob name is not a plain file name.
	ErrName = errors.New("blob: the workspace or name has characters that are not allowed")
	// ErrDamaged says that a stored blob was truncated or changed.
	ErrDamaged = errors.New("blob: the file is damaged")
)

// Sealer encrypts and decrypts the key of a blob with the data key of its workspace.
type Sealer interface {
	Seal(ctx context.Context, k domain.Key, field, text string) (string, error)
	Unseal(ctx context.Context, k domain.Key, field, sealed string) (string, error)
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$`)

// blobPath returns the path of a blob relative to the store's folder or bucket prefix.
func blobPath(workspace, name string) (string, error) {
	if !validName.MatchString(workspace) || !validName.MatchString(name) || strings.HasSuffix(name, partSuffix) {
		return "", fmt.Errorf("%w: %q/%q", ErrName, workspace, name)
	}
	return workspace + "/" + name, nil
}

func blobKey(workspace, name string) domain.Key {
	return domain.Key{Kind: "blob", Workspace: workspace, ID: name}
}

// writeSealed encrypts the bytes of r, writes the sealed blob to to, and returns the number of bytes of r.
func writeSealed(ctx context.Context, seal Sealer, to io.Writer, workspace, name string, r io.Reader) (int64, error) {
	var key [keySize]byte
	if _, err := rand.Read(key[:]); err != nil {
		return 0, err
	}
	sealed, err := seal.Seal(ctx, blobKey(workspace, name), "key", base64.StdEncoding.EncodeToString(key[:]))
	if err != nil {
		return 0, err
	}
	if len(sealed) > maxSealed {
		return 0, errors.New("the sealed key is too long")
	}
	box, err := newChunkCipher(key[:], workspace, name)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(to, chunkSize)
	head := binary.BigEndian.AppendUint16([]byte(magic), uint16(len(sealed))) //nolint:gosec // bounded above
	if _, err = w.Write(append(head, sealed...)); err != nil {
		return 0, err
	}
	size, err := box.sealChunks(ctx, w, r)
	return size, errors.Join(err, w.Flush())
}

// source is a sealed blob in the store, which can be read at any offset.
type source interface {
	io.ReaderAt
	io.Closer
}

// openSealed reads the header of a sealed blob of size bytes, decrypts its key and returns a reader of its content.
func openSealed(ctx context.Context, seal Sealer, f source, size int64, workspace, name string) (*chunkReader, error) {
	var head [len(magic) + 2]byte
	if err := readAt(f, head[:], 0); err != nil {
		return nil, err
	}
	sealed := make([]byte, binary.BigEndian.Uint16(head[len(magic):]))
	if string(head[:len(magic)]) != magic || len(sealed) > maxSealed {
		return nil, ErrDamaged
	}
	if err := readAt(f, sealed, int64(len(head))); err != nil {
		return nil, err
	}
	text, err := seal.Unseal(ctx, blobKey(workspace, name), "key", string(sealed))
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrDamaged
	}
	box, err := newChunkCipher(key, workspace, name)
	if err != nil {
		return nil, err
	}
	start := int64(len(head) + len(sealed))
	return newReader(f, box, start, size-start)
}

// readAt fills p with the bytes at an offset. If the blob ends earlier, the error is ErrDamaged.
func readAt(f io.ReaderAt, p []byte, off int64) error {
	n, err := f.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case errors.Is(err, domain.ErrBlobsUnavailable): // also if the connection ended early
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrDamaged
	}
	return fmt.Errorf("blob: %w", err)
}

// chunkCipher encrypts and decrypts the chunks of one blob.
type chunkCipher struct {
	aead cipher.AEAD
	name []byte
}

func newChunkCipher(key []byte, workspace, name string) (*chunkCipher, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, ErrDamaged
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &chunkCipher{aead: aead, name: []byte(workspace + "/" + name)}, nil
}

func nonce(index int64, last bool) []byte {
	n := make([]byte, 12)
	binary.BigEndian.PutUint64(n, uint64(index)) //nolint:gosec // never negative
	if last {
		n[11] = 1
	}
	return n
}

// sealChunks encrypts r and writes it in chunks. The nonce of the last chunk, which may be empty, marks it as the last.
func (b *chunkCipher) sealChunks(ctx context.Context, w io.Writer, r io.Reader) (size int64, err error) {
	now, ahead := make([]byte, chunkSize), make([]byte, chunkSize)
	out := make([]byte, 0, chunkSize+tagSize)
	n, err := io.ReadFull(r, now)
	for index := int64(0); ; index++ {
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		if over := ctx.Err(); over != nil {
			return 0, over
		}
		more, moreErr := 0, io.EOF
		if err == nil {
			more, moreErr = io.ReadFull(r, ahead)
		}
		last := more == 0 && errors.Is(moreErr, io.EOF)
		out = b.aead.Seal(out[:0], nonce(index, last), now[:n], b.name)
		if _, wrong := w.Write(out); wrong != nil {
			return 0, wrong
		}
		size += int64(n)
		if last {
			return size, nil
		}
		now, ahead, n, err = ahead, now, more, moreErr
	}
}
