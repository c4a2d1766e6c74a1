// Package blob keeps large things beside the store: recordings. Each lies in
// one file, encrypted under a key of its own, so that deleting it shreds it.
// It knows no call and no workspace but their names.
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
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/callboard/callboard/domain"
)

// A file is: magic, two bytes of length, the object's key sealed under that of
// the workspace, then chunks of chunkSize bytes, each with its tag. The nonce
// of a chunk is its number, and whether it is the last: a file that is cut,
// reordered or patched does not open.
const (
	magic     = "CBB1"
	chunkSize = 64 << 10
	tagSize   = 16
	keySize   = 32
	maxSealed = 4 << 10
	part      = ".part"
)

// Errors of blobs.
var (
	// ErrName: a workspace or name that is no plain file name.
	ErrName = errors.New("blob: the name is not allowed")
	// ErrDamaged: the file was cut or changed.
	ErrDamaged = errors.New("blob: the file is damaged")
)

// Sealer wraps the key of an object under the key of its workspace.
type Sealer interface {
	Seal(ctx context.Context, k domain.Key, field, text string) (string, error)
	Unseal(ctx context.Context, k domain.Key, field, sealed string) (string, error)
}

// Disk keeps blobs in a folder, one below it per workspace.
type Disk struct {
	dir  string
	seal Sealer
}

// NewDisk opens a folder and removes what a crash left half-written in it.
func NewDisk(dir string, seal Sealer) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"+part))
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("blob: %w", err)
		}
	}
	return &Disk{dir: dir, seal: seal}, nil
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$`)

func (d *Disk) path(workspace, name string) (string, error) {
	if !plain.MatchString(workspace) || !plain.MatchString(name) || strings.HasSuffix(name, part) {
		return "", fmt.Errorf("%w: %q/%q", ErrName, workspace, name)
	}
	return filepath.Join(d.dir, workspace, name), nil
}

func keyOf(workspace, name string) domain.Key {
	return domain.Key{Kind: "blob", Workspace: workspace, ID: name}
}

// Put keeps what r gives under a name and returns its size; a blob of that
// name is replaced. When it returns, the bytes are safe on disk.
func (d *Disk) Put(ctx context.Context, workspace, name string, r io.Reader) (size int64, err error) {
	path, err := d.path(workspace, name)
	if err != nil {
		return 0, err
	}
	folder := filepath.Dir(path)
	if err = d.makeFolder(folder); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(folder, name+".*"+part)
	if err != nil {
		return 0, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	size, err = d.write(ctx, f, workspace, name, r)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("blob: put %s: %w", name, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return 0, fmt.Errorf("blob: %w", err)
	}
	return size, syncFolder(folder)
}

// makeFolder makes a workspace's folder durable before anything stands in it.
func (d *Disk) makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("blob: %w", err)
	}
	return syncFolder(d.dir)
}

func (d *Disk) write(ctx context.Context, f io.Writer, workspace, name string, r io.Reader) (int64, error) {
	var key [keySize]byte
	if _, err := rand.Read(key[:]); err != nil {
		return 0, err
	}
	sealed, err := d.seal.Seal(ctx, keyOf(workspace, name), "key", base64.StdEncoding.EncodeToString(key[:]))
	if err != nil {
		return 0, err
	}
	if len(sealed) > maxSealed {
		return 0, errors.New("the sealed key is too long")
	}
	box, err := newBox(key[:], workspace, name)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, chunkSize)
	head := binary.BigEndian.AppendUint16([]byte(magic), uint16(len(sealed))) //nolint:gosec // bounded above
	if _, err = w.Write(append(head, sealed...)); err != nil {
		return 0, err
	}
	size, err := box.seal(ctx, w, r)
	return size, errors.Join(err, w.Flush())
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	f, err := os.Open(path) //nolint:gosec // a folder of ours
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open reads a blob; domain.ErrNotFound where there is none. Whoever opens it
// closes it. Seeking costs one chunk.
func (d *Disk) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	path, err := d.path(workspace, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path) //nolint:gosec // the name is checked
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("blob: %s: %w", name, domain.ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("blob: %w", err)
	}
	r, err := d.reader(ctx, f, workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, r.size, nil
}

func (d *Disk) reader(ctx context.Context, f *os.File, workspace, name string) (*reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	var head [len(magic) + 2]byte
	if _, err = io.ReadFull(f, head[:]); err != nil || string(head[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	sealed := make([]byte, binary.BigEndian.Uint16(head[len(magic):]))
	if len(sealed) > maxSealed {
		return nil, ErrDamaged
	}
	if _, err = io.ReadFull(f, sealed); err != nil {
		return nil, ErrDamaged
	}
	text, err := d.seal.Unseal(ctx, keyOf(workspace, name), "key", string(sealed))
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrDamaged
	}
	box, err := newBox(key, workspace, name)
	if err != nil {
		return nil, err
	}
	start := int64(len(head) + len(sealed))
	return newReader(f, box, start, info.Size()-start)
}

// Delete removes a blob and with it its key; one that is not there is gone.
func (d *Disk) Delete(_ context.Context, workspace, name string) error {
	path, err := d.path(workspace, name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob: %w", err)
	}
	return nil
}

// DeleteAll removes all blobs of a workspace.
func (d *Disk) DeleteAll(_ context.Context, workspace string) error {
	path, err := d.path(workspace, "all")
	if err != nil {
		return err
	}
	if err = os.RemoveAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return syncFolder(d.dir)
}

// box seals and opens the chunks of one object.
type box struct {
	aead cipher.AEAD
	name []byte
}

func newBox(key []byte, workspace, name string) (*box, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, ErrDamaged
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &box{aead: aead, name: []byte(workspace + "/" + name)}, nil
}

func nonce(index int64, last bool) []byte {
	n := make([]byte, 12)
	binary.BigEndian.PutUint64(n, uint64(index)) //nolint:gosec // never negative
	if last {
		n[11] = 1
	}
	return n
}

// seal writes r in chunks; the last, which may be empty, is marked.
func (b *box) seal(ctx context.Context, w io.Writer, r io.Reader) (size int64, err error) {
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
