package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"
)

// Bounds of a request for meanings.
const (
	EmbedMost = 64 // texts of a request
	maxVector = 4096
	maxEmbed  = 16 << 20 // bytes of an answer
)

// Embed asks an engine of /v1/embeddings for the meanings of texts, EmbedMost at
// most, in their order. An engine that failed three times in a row is not asked
// while it rests. The error is a *Fault, but where the context has ended.
func (c *Client) Embed(ctx context.Context, e *Engine, texts []string) ([][]float32, error) {
	if c.resting.rests(e, time.Now()) {
		return nil, &Fault{Engine: e.Name, Code: "unreachable", Message: "it has failed too often, and rests"}
	}
	out, err := c.embed(ctx, e, texts)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	f, _ := errors.AsType[*Fault](err)
	if err != nil && f == nil {
		f = &Fault{Engine: e.Name, Code: "unreachable", Message: "it cannot be reached"}
		if ctx.Err() != nil {
			f.Code, f.Message = "timeout", "it did not answer in time"
		}
	}
	c.resting.note(e, f, time.Now())
	if f != nil {
		return nil, f
	}
	return out, nil
}

func (c *Client) embed(ctx context.Context, e *Engine, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "callboard")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	resp, err := c.Free.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(e, resp.StatusCode)
	}
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
