{
  "targets": [
    {
      "target_name": "spawn",
      "sources": ["native/spawn.c"],
      "defines": ["_GNU_SOURCE", "NAPI_VERSION=8"],
      "cflags": ["-Wall", "-Wextra"]
    }
  ]
}
