package httpapi

import "github.com/callboard/callboard/httpapi/router"

// MergePatch is router.MergePatch, for tests.
func MergePatch(target, patch any) any { return router.MergePatch(target, patch) }
