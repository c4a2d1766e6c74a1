package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Limits of an embedding request.
const (
	EmbedMost = 64 // texts per request
	maxVector = 4096
	maxEmbed  = 16 << 20 // bytes of a response
)

// Embed returns the embeddings of at most EmbedMost texts, in the order of the texts. A suspended engine receives no
// request. Errors are *Fault, except when the context has ended.
func (c *Client) Embed(ctx context.Context, e *Engine, texts []string) ([][]float32, error) {
	if c.health.isSuspended(e, time.Now()) {
		return nil, &Fault{Engine: e.Name, Code: "unreachable", Message: "the engine is suspended after repeated failures"}
	}
	out, err := c.embed(ctx, e, texts)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	var f *Fault
	if err != nil {
		f = faultOf(e, err)
	}
	c.health.record(e, f, time.Now())
	if f != nil {
		return nil, f
	}
	return out, nil
}

func (c *Client) embed(ctx context.Context, e *Engine, texts []string) ([][]float32, error) {
	resp, err := c.post(ctx, e, "/embeddings", "application/json", map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	garbage := func(why string) error { return &Fault{Engine: e.Name, Code: "garbage", Message: why} }
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxEmbed+1))
	if err != nil {
		return nil, err
	}
	var got struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if len(text) > maxEmbed || json.Unmarshal(text, &got) != nil || len(got.Data) != len(texts) {
		return nil, garbage(fmt.Sprintf("the answer is not %d vectors", len(texts)))
	}
	out := make([][]float32, len(texts))
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil || len(d.Embedding) == 0 || len(d.Embedding) > maxVector || len(d.Embedding) != len(got.Data[0].Embedding) {
			return nil, garbage("its vectors do not fit")
		}
		for _, x := range d.Embedding {
			if math.IsInf(float64(x), 0) {
				return nil, garbage("its vectors do not fit")
			}
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}
