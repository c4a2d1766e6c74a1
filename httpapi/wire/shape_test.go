package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/assert"
)

func TestABodyThatIsSurelyGoodIsKnown(t *testing.T) {
	t.Parallel()
	type body struct {
		Name   string         `json:"name" maxLength:"10"`
		Weight int            `json:"weight" default:"1"`
		Mode   string         `json:"mode" enum:"off,on" default:"off"`
		Record bool           `json:"record" default:"true"`
		Level  float64        `json:"level" default:"0.5" minimum:"-1"`
		More   map[string]any `json:"more,omitempty"`
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	shape := NewShapes(registry).Of(registry.Schema(reflect.TypeFor[body](), true, ""))
	const good = `{"name":"a","weight":2,"mode":"on","record":true,"level":0.7}`
	long := strings.Replace(good, "{", `{"more":{"a":"`+strings.Repeat("x", 2*mostKept)+`"},`, 1)
	for range 3 { // a reader is used again
		assert.True(t, shape.Fits([]byte(good)))
		assert.True(t, shape.Fits([]byte(long)))
		for was, is := range map[string]string{
			`"weight":2`: `"weight":0`, `"mode":"on"`: `"mode":""`, `"record":true`: `"record":false`, // a default is filled in
			`"level":0.7`: `"level":-0.0`, `"name":"a"`: `"name":"elevenletters"`, `,"level":0.7`: ``, `"level":0.7}`: `"level":0.7,"name":"b"}`, `0.7}`: `0.7}{`,
		} {
			text := strings.Replace(good, was, is, 1)
			assert.NotEqual(t, good, text)
			assert.False(t, shape.Fits([]byte(text)), text)
		}
	}
}
