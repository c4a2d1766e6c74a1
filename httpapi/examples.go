package httpapi

import (
	_ "embed"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// exampleText is a body for operations that take one, by the operation's id.
//
//go:embed examples.json
var exampleText []byte

func examples() map[string]any {
	var all map[string]any
	if err := json.Unmarshal(exampleText, &all); err != nil {
		panic("httpapi: the examples cannot be read: " + err.Error())
	}
	return all
}

// exemplify shows a body that the operation takes.
func exemplify(op *huma.Operation, all map[string]any) {
	example := all[op.OperationID]
	if example == nil || op.RequestBody == nil {
		return
	}
	if m := op.RequestBody.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil {
		m.Example = example
	}
}
