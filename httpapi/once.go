package httpapi

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

const (
	onceDeadline = 5 * time.Second
)

// idempotency runs requests at most once per Idempotency-Key and replays the stored
// replies.
type idempotency struct {
	store Idempotency // nil: the header has no effect
	log   *slog.Logger
}

// stored is a reply as it is sealed.
type stored struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Body        []byte `json:"body"`
}

// once runs a request at most once per Idempotency-Key. digest is called after
// the run, and before a replay; it fails where the body did not come whole.
type onceRequest struct {
	key    record.IdempotencyKey
	header string
	digest func() (string, error)
}

// RunOnce runs a request whose body was read; a repeated one is answered from
// memory.
func (i *idempotency) RunOnce(c *fiber.Ctx, text []byte, run func()) {
	digest := func() (string, error) {
		sum := digestOf(c)
		sum.Write(text)
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	known := ""
	if c.Get(router.IdempotencyHeader) != "" {
		known, _ = digest() // never fails
	}
	if err := i.runOnce(c, known, digest, func() error { run(); return nil }); err != nil {
		_ = router.RequestOf(c.UserContext()).Router.RespondError(c, err) // into memory: cannot fail
	}
}

// RunStreamOnce is once for a body that is digested while it is read.
func (i *idempotency) RunStreamOnce(c *fiber.Ctx, run func() error) error {
	b := router.BodyOf(c)
	b.Sum = digestOf(c)
	return i.runOnce(c, "", func() (string, error) {
		if _, err := io.Copy(io.Discard, b); err != nil {
			return "", err
		}
		return hex.EncodeToString(b.Sum.Sum(nil)), nil
	}, run)
}

// digestOf begins the digest of a request with its query: that says as much as
// the body what is to be done.
func digestOf(c *fiber.Ctx) hash.Hash {
	sum := sha256.New()
	if query := c.Request().URI().QueryString(); len(query) > 0 {
		sum.Write([]byte{'?'})
		sum.Write(query)
		sum.Write([]byte{'\n'})
	}
	return sum
}

func (i *idempotency) runOnce(c *fiber.Ctx, known string, digest func() (string, error), run func() error) error {
	header := c.Get(router.IdempotencyHeader)
	if header == "" || c.Method() != fiber.MethodPost || i.store == nil {
		return run()
	}
	if len(header) > router.MaxIdempotencyKey {
		var p domain.Problems
		p.Add(router.IdempotencyHeader, domain.CodeValidation, "has more than %d characters", router.MaxIdempotencyKey)
		return p.Err()
	}
	sum := sha256.Sum256([]byte(header))
	r := onceRequest{
		key:    record.IdempotencyKey{Key: hex.EncodeToString(sum[:]), Method: c.Method(), Path: c.Path()},
		header: header, digest: digest,
	}
	ctx := c.UserContext()
	p := router.RequestOf(ctx).Principal
	ctx, before, err := i.store.Reserve(ctx, p, r.key, known)
	if err != nil {
		return err
	}
	c.SetUserContext(ctx)
	if before != nil {
		return i.replay(c, r, before)
	}
	finished := false
	defer func() {
		if !finished { // a panic: its effect is unknown, and the client may ask again
			i.release(ctx, p, r.key, true)
		}
	}()
	err = run()
	finished = true
	status := c.Response().StatusCode()
	if err != nil {
		status = router.StatusOfError(err)
	}
	if err != nil || status >= http.StatusBadRequest {
		i.release(ctx, p, r.key, status >= http.StatusInternalServerError)
		return err
	}
	i.keep(c, p, r)
	return nil
}

func (i *idempotency) replay(c *fiber.Ctx, r onceRequest, before *record.StoredReply) error {
	digest, err := r.digest()
	if err != nil {
		return err
	}
	if digest != before.Digest {
		return domain.Errorf(domain.CodeIdempotencyMismatch, "This Idempotency-Key came with another body or query before.")
	}
	text, err := seal(r.header, r.key, before.Sealed, false)
	if err != nil {
		return err
	}
	var reply stored
	if err := json.Unmarshal(text, &reply); err != nil {
		return err
	}
	c.Set("Idempotent-Replayed", "true")
	c.Set(fiber.HeaderContentType, reply.ContentType)
	return c.Status(reply.Status).Send(reply.Body)
}

func (i *idempotency) keep(c *fiber.Ctx, p domain.Principal, r onceRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), onceDeadline)
	defer cancel()
	digest, err := r.digest()
	var text []byte
	if err == nil {
		res := c.Response()
		text, err = json.Marshal(stored{Status: res.StatusCode(), ContentType: string(res.Header.ContentType()), Body: res.Body()})
	}
	if err == nil {
		text, err = seal(r.header, r.key, text, true)
	}
	if err == nil {
		err = i.store.Keep(ctx, p, r.key, record.StoredReply{Digest: digest, Sealed: text})
	} else {
		i.release(ctx, p, r.key, true)
	}
	if err != nil {
		i.log.WarnContext(ctx, "reply not kept for its idempotency key", slog.String("request_id", router.RequestID(c)), slog.Any("error", err))
	}
}

// release ends a request that failed; unknown: it may have had its effect.
func (i *idempotency) release(ctx context.Context, p domain.Principal, k record.IdempotencyKey, unknown bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onceDeadline)
	defer cancel()
	if err := i.store.Release(ctx, p, k, unknown); err != nil {
		i.log.WarnContext(ctx, "idempotency key not released", slog.Any("error", err))
	}
}

// seal locks or unlocks a reply with the key that only the client's header
// gives: replies may hold secrets that are shown once.
func seal(header string, k record.IdempotencyKey, text []byte, lock bool) ([]byte, error) {
	secret, err := hkdf.Key(sha256.New, []byte(header), nil, "callboard idempotent reply", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	bound := []byte(k.Method + " " + k.Path)
	if lock {
		nonce := make([]byte, gcm.NonceSize())
		_, _ = rand.Read(nonce) // never fails
		return gcm.Seal(nonce, nonce, text, bound), nil
	}
	if len(text) < gcm.NonceSize() {
		return nil, errors.New("httpapi: stored reply is too short")
	}
	return gcm.Open(nil, text[:gcm.NonceSize()], text[gcm.NonceSize():], bound)
}
