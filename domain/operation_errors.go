package domain

// Codes that only requests meet.
const (
	CodeCursorExpired Code = "cursor_expired" // 410: an event past retention
	CodeInvalidCursor Code = "invalid_cursor" // 422: not a cursor of this list
	CodeExportExpired Code = "export_expired" // 410: the file of an export is deleted
)
