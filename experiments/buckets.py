"""Pictures of many sizes on few canvases, so that little is compiled."""

from collections import Counter

import numpy as np

_ROUND = 32  # pixels to which the sides of a shared canvas are rounded up


def groups(shapes, batch: int):
  """Pairs of a canvas (height, width) and the indices of those that go on it.

  Sizes of at least `batch` pictures have a canvas of their own; the others
  share one that holds them all.
  """
  often = {s for s, count in Counter(shapes).items() if count >= batch}
  for shape in sorted(often):
    yield shape, [i for i, s in enumerate(shapes) if s == shape]
  rest = [i for i, s in enumerate(shapes) if s not in often]
  if rest:
    tallest, widest = np.max([shapes[i] for i in rest], axis=0)
    round_up = lambda side: int(-(-side // _ROUND) * _ROUND)
    yield (round_up(tallest), round_up(widest)), rest


def pad(images, canvas, batch: int, dtype):
  """Images in the upper left of canvases [batch, H, W, ...], and their sizes.

  A short batch is filled with its first image: one shape, one compilation.
  """
  images = images + images[:1] * (batch - len(images))
  stack = np.zeros((batch, *canvas, *images[0].shape[2:]), dtype)
  for place, image in zip(stack, images, strict=True):
    place[: image.shape[0], : image.shape[1]] = image
  return stack, np.array([image.shape[:2] for image in images], np.int32)
