# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The convolutions and poolings of linalg: their layouts, and a mirror.

A layout has a letter for each dimension. Upper case letters of the image are
windows: D, H and W run over the output's d, h and w and the kernel's D, H and W.
"""

import itertools

import numpy as np

# Name: image, kernel, output.
CONVOLUTIONS = {
    "conv_1d": ("W", "W", "w"),
    "conv_1d_ncw_fcw": ("ncW", "fcW", "nfw"),
    "conv_1d_nwc_wcf": ("nWc", "Wcf", "nwf"),
    "conv_2d": ("HW", "HW", "hw"),
    "conv_2d_nchw_fchw": ("ncHW", "fcHW", "nfhw"),
    "conv_2d_nhwc_hwcf": ("nHWc", "HWcf", "nhwf"),
    "conv_2d_nhwc_fhwc": ("nHWc", "fHWc", "nhwf"),
    "conv_2d_ngchw_fgchw": ("ngcHW", "fgcHW", "ngfhw"),
    "conv_2d_ngchw_gfchw": ("ngcHW", "gfcHW", "ngfhw"),
    "conv_2d_nhwgc_gfhwc": ("nHWgc", "gfHWc", "nhwgf"),
    "conv_3d": ("DHW", "DHW", "dhw"),
    "conv_3d_ncdhw_fcdhw": ("ncDHW", "fcDHW", "nfdhw"),
    "conv_3d_ndhwc_dhwcf": ("nDHWc", "DHWcf", "ndhwf"),
    "depthwise_conv_1d_ncw_cw": ("ncW", "cW", "ncw"),
    "depthwise_conv_1d_nwc_wc": ("nWc", "Wc", "nwc"),
    "depthwise_conv_1d_nwc_wcm": ("nWc", "Wcm", "nwcm"),
    "depthwise_conv_2d_nchw_chw": ("ncHW", "cHW", "nchw"),
    "depthwise_conv_2d_nhwc_hwc": ("nHWc", "HWc", "nhwc"),
    "depthwise_conv_2d_nhwc_hwcm": ("nHWc", "HWcm", "nhwcm"),
    "depthwise_conv_3d_ncdhw_cdhw": ("ncDHW", "cDHW", "ncdhw"),
    "depthwise_conv_3d_ndhwc_dhwc": ("nDHWc", "DHWc", "ndhwc"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("nDHWc", "DHWcm", "ndhwcm"),
}
POOLINGS = {
    "pooling_nchw_sum": ("ncHW", "HW", "nchw"),
    "pooling_ncw_sum": ("ncW", "W", "ncw"),
    "pooling_ndhwc_sum": ("nDHWc", "DHW", "ndhwc"),
    "pooling_nhwc_sum": ("nHWc", "HW", "nhwc"),
    "pooling_nwc_sum": ("nWc", "W", "nwc"),
    "pooling_nchw_max": ("ncHW", "HW", "nchw"),
    "pooling_ncw_max": ("ncW", "W", "ncw"),
    "pooling_ndhwc_max": ("nDHWc", "DHW", "ndhwc"),
    "pooling_nhwc_max": ("nHWc", "HW", "nhwc"),
    "pooling_nwc_max": ("nWc", "W", "nwc"),
    "pooling_ndhwc_min": ("nDHWc", "DHW", "ndhwc"),
    "pooling_nhwc_min": ("nHWc", "HW", "nhwc"),
    "pooling_nwc_min": ("nWc", "W", "nwc"),
}


def windows_of(layout):
    return [letter for letter in layout[0] if letter.isupper()]


def _slices(layout, x, kernel, extents, strides, dilations):
    """For each position in the kernel, the elements that the outputs see."""
    windows = windows_of(layout)
    for at in itertools.product(*[range(kernel[w]) for w in windows]):
        part = x
        for axis, letter in enumerate(layout[0]):
            if letter.isupper():
                number = windows.index(letter)
                steps = np.arange(extents[letter.lower()])
                part = np.take(part, at[number] * dilations[number] +
                               strides[number] * steps, axis=axis)
        yield at, part


def convolve(layout, x, w, c, strides, dilations):
    image, kernel, output = layout
    windows = windows_of(layout)
    result = np.array(c)
    extents = dict(zip(output, c.shape))
    sizes = dict(zip(kernel, w.shape))
    names = image.lower() + "," + "".join(
        k for k in kernel if not k.isupper()) + "->" + output
    for at, part in _slices(layout, x, sizes, extents, strides, dilations):
        weights = w[tuple(at[windows.index(k)] if k.isupper() else slice(None)
                          for k in kernel)]
        result = result + np.einsum(names, part, weights)
    return result


def pool(kind, layout, x, window, c, strides, dilations):
    _, kernel, output = layout
    extents = dict(zip(output, c.shape))
    sizes = dict(zip(kernel, window))
    result = np.array(c)
    for _, part in _slices(layout, x, sizes, extents, strides, dilations):
        if kind == "sum":
            result = result + part
        elif kind == "max":
            result = np.where(np.real(part) > np.real(result), part, result)
        else:
            result = np.where(np.real(part) < np.real(result), part, result)
    return result
