package middleware

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

// replyTimeout is the maximum time for storing a response.
const replyTimeout = 5 * time.Second

// Idempotency runs requests with the same Idempotency-Key once. Repeated requests get the stored response.
type Idempotency struct {
	replies Replies // nil: the Idempotency-Key header has no effect
	log     *slog.Logger
}

// NewIdempotency returns the Idempotency of a server. If replies is nil, the Idempotency-Key header has no effect.
func NewIdempotency(replies Replies, log *slog.Logger) *Idempotency {
	return &Idempotency{replies: replies, log: log}
}

// storedResponse is the content of a stored response, which is encrypted as JSON.
type storedResponse struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Body        []byte `json:"body"`
}

// idempotentRequest is a request with an Idempotency-Key. digest returns the hash of the body, after the request has
// run or before a stored response is sent. It fails if the body is incomplete.
type idempotentRequest struct {
	key    record.IdempotencyKey
	header string
	digest func() (string, error)
}

// RunOnce runs a request whose body was read before. A repeated request gets the stored response.
func (i *Idempotency) RunOnce(c *fiber.Ctx, text []byte, run func()) {
	digest := func() (string, error) {
		sum := newDigest(c)
		sum.Write(text)
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	known := ""
	if c.Get(router.IdempotencyHeader) != "" {
		known, _ = digest() // a digest of a body in memory never fails
	}
	if err := i.runOnce(c, known, digest, func() error { run(); return nil }); err != nil {
		_ = router.RequestOf(c.UserContext()).Router.RespondError(c, err) // writes to memory: cannot fail
	}
}

// RunStreamOnce runs a request whose handler reads the body itself. A repeated request gets the stored response.
func (i *Idempotency) RunStreamOnce(c *fiber.Ctx, run func() error) error {
	b := router.BodyOf(c)
	b.Sum = newDigest(c)
	return i.runOnce(c, "", func() (string, error) {
		if _, err := io.Copy(io.Discard, b); err != nil {
			return "", err
		}
		return hex.EncodeToString(b.Sum.Sum(nil)), nil
	}, run)
}

// newDigest returns a hash to which the body is added and which already contains the query. A repeated request must
// have the same query and body.
func newDigest(c *fiber.Ctx) hash.Hash {
	sum := sha256.New()
	if query := c.Request().URI().QueryString(); len(query) > 0 {
		sum.Write([]byte{'?'})
		sum.Write(query)
		sum.Write([]byte{'\n'})
	}
	return sum
}

func (i *Idempotency) runOnce(c *fiber.Ctx, known string, digest func() (string, error), run func() error) error {
	header := c.Get(router.IdempotencyHeader)
	if header == "" || c.Method() != fiber.MethodPost || i.replies == nil {
		return run()
	}
	if len(header) > router.MaxIdempotencyKey {
		var p domain.Problems
		p.Add(router.IdempotencyHeader, domain.CodeValidation, "has more than %d characters", router.MaxIdempotencyKey)
		return p.Err()
	}
	sum := sha256.Sum256([]byte(header))
	r := idempotentRequest{
		key:    record.IdempotencyKey{Key: hex.EncodeToString(sum[:]), Method: c.Method(), Path: c.Path()},
		header: header, digest: digest,
	}
	ctx := c.UserContext()
	p := router.RequestOf(ctx).Principal
	ctx, before, err := i.replies.Reserve(ctx, p, r.key, known)
	if err != nil {
		return err
	}
	c.SetUserContext(ctx)
	if before != nil {
		return i.replay(c, r, before)
	}
	finished := false
	defer func() {
		if !finished { // after a panic the effect is unknown, and the client may send the request again
			i.releaseKey(ctx, p, r.key, true)
		}
	}()
	err = run()
	finished = true
	status := c.Response().StatusCode()
	if err != nil {
		status = router.StatusOfError(err)
	}
	if err != nil || status >= http.StatusBadRequest {
		i.releaseKey(ctx, p, r.key, status >= http.StatusInternalServerError)
		return err
	}
	i.storeResponse(c, p, r)
	return nil
}

func (i *Idempotency) replay(c *fiber.Ctx, r idempotentRequest, stored *record.StoredReply) error {
	digest, err := r.digest()
	if err != nil {
		return err
	}
	if digest != stored.Digest {
		return domain.Errorf(domain.CodeIdempotencyMismatch, "This Idempotency-Key belongs to a request with another body or query; use a new key")
	}
	text, err := cryptResponse(r.header, r.key, stored.Sealed, false)
	if err != nil {
		return err
	}
	var reply storedResponse
	if err := json.Unmarshal(text, &reply); err != nil {
		return err
	}
	c.Set("Idempotent-Replayed", "true")
	c.Set(fiber.HeaderContentType, reply.ContentType)
	return c.Status(reply.Status).Send(reply.Body)
}

func (i *Idempotency) storeResponse(c *fiber.Ctx, p domain.Principal, r idempotentRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), replyTimeout)
	defer cancel()
	digest, err := r.digest()
	var text []byte
	if err == nil {
		res := c.Response()
		text, err = json.Marshal(storedResponse{Status: res.StatusCode(), ContentType: string(res.Header.ContentType()), Body: res.Body()})
	}
	if err == nil {
		text, err = cryptResponse(r.header, r.key, text, true)
	}
	if err == nil {
		err = i.replies.StoreReply(ctx, p, r.key, record.StoredReply{Digest: digest, Sealed: text})
	} else {
		i.releaseKey(ctx, p, r.key, true)
	}
	if err != nil {
		i.log.WarnContext(ctx, "response not stored for its idempotency key", slog.String("request_id", router.RequestID(c)), slog.Any("error", err))
	}
}

// releaseKey releases the idempotency key of a failed request. unknown means that the request may have had an effect.
func (i *Idempotency) releaseKey(ctx context.Context, p domain.Principal, k record.IdempotencyKey, unknown bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replyTimeout)
	defer cancel()
	if err := i.replies.Release(ctx, p, k, unknown); err != nil {
		i.log.WarnContext(ctx, "idempotency key not released", slog.Any("error", err))
	}
}

// cryptResponse encrypts or decrypts a stored response, which may hold secrets that are shown once. The key is
// derived from the Idempotency-Key value, which is not stored.
func cryptResponse(header string, k record.IdempotencyKey, text []byte, encrypt bool) ([]byte, error) {
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
	if encrypt {
		nonce := make([]byte, gcm.NonceSize())
		_, _ = rand.Read(nonce) // Read of crypto/rand never fails
		return gcm.Seal(nonce, nonce, text, bound), nil
	}
	if len(text) < gcm.NonceSize() {
		return nil, errors.New("httpapi: stored response is too short")
	}
	return gcm.Open(nil, text[:gcm.NonceSize()], text[gcm.NonceSize():], bound)
}
