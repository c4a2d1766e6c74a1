package campaigns

import (
	"errors"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
	"github.com/callboard/callboard/httpapi/router"
)

// maxFormParts is the maximum number of form parts before the contact file, and also after the file.
const maxFormParts = 20

// rowsOfForm streams the contacts from the file in a multipart form. Form fields before the file, such as
// phone_column, say which file column holds which contact field.
func (s *contactHandlers) rowsOfForm(b io.Reader, boundary string, as *intake.Columns) (iter.Seq2[domain.RawContact, error], error) {
	if boundary == "" {
		return nil, domain.Errorf(domain.CodeInvalidRequest, "The form has no boundary.")
	}
	form := multipart.NewReader(b, boundary)
	for range maxFormParts {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, formError(err)
		}
		if isFile(part) {
			rows, err := s.rowsIn(formPart{part}, kindOfPart(part), router.CharsetOf(part.Header.Get(fiber.HeaderContentType)), as)
			if err != nil {
				return nil, err
			}
			return rowsThenParts(form, rows), nil
		}
		if field, ok := targetField(part); ok {
			column, err := io.ReadAll(io.LimitReader(part, maxColumnName+1))
			if err != nil {
				return nil, formError(err)
			}
			if err = setColumnName(as.Named, field, string(column)); err != nil {
				return nil, err
			}
		}
	}
	var p domain.Problems
	p.Add("file", domain.CodeValidation, "the form contains no file")
	return nil, p.Err()
}

// isFile reports whether a form part is a file of contacts.
func isFile(part *multipart.Part) bool {
	return part.FileName() != "" || part.FormName() == "file" || part.FormName() == "contacts"
}

// targetField returns the contact field to which a form part assigns a file column. For the form part phone_column
// the field is phone. ok is false for all other form parts.
func targetField(part *multipart.Part) (field string, ok bool) {
	field, ok = strings.CutSuffix(part.FormName(), columnParam)
	return field, ok && slices.Contains(intake.BuiltinFields(), field)
}

// rowsThenParts yields the contacts of the file and then reads the form parts after the file. It yields an error if
// another file or a column name follows.
func rowsThenParts(form *multipart.Reader, rows iter.Seq2[domain.RawContact, error]) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
		}
		for range maxFormParts {
			part, err := form.NextPart()
			if errors.Is(err, io.EOF) {
				return
			}
			var p domain.Problems
			if err != nil {
				err = formError(err)
			} else if isFile(part) {
				p.Add("file", domain.CodeValidation, "the form contains more than one file: send one file per request")
			} else if _, ok := targetField(part); ok {
				p.Add(part.FormName(), domain.CodeValidation, "must come before the file in the form")
			}
			if err = errors.Join(err, p.Err()); err != nil {
				yield(domain.RawContact{}, err)
				return
			}
		}
		yield(domain.RawContact{}, domain.Errorf(domain.CodeInvalidRequest, "The form has more than %d parts after its file.", maxFormParts))
	}
}

// formPart reads a part of a multipart form and converts read errors to invalid_request errors of the API.
type formPart struct{ io.Reader }

func (f formPart) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = formError(err)
	}
	return n, err
}

func formError(err error) error {
	if domain.CodeOf(err) != "" {
		return err
	}
	return domain.Errorf(domain.CodeInvalidRequest, "The form cannot be read.")
}

func kindOfPart(part *multipart.Part) string {
	switch strings.ToLower(path.Ext(part.FileName())) {
	case ".ndjson", ".jsonl":
		return router.MIMEJSONLines
	case ".json":
		return fiber.MIMEApplicationJSON
	case ".csv", ".txt":
		return router.MIMECSV
	}
	kind, _, err := mime.ParseMediaType(part.Header.Get(fiber.HeaderContentType))
	if err != nil || kind == fiber.MIMETextPlain || kind == fiber.MIMEOctetStream {
		return router.MIMECSV
	}
	return kind
}
